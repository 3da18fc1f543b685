"""Wide & deep: a linear part for what is remembered, a deep part for what is guessed, one probability out.

One layer serves all ways of training: run step by step, traced for export, or as a graph that parameter
servers hold the weights of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import make_data
import paddle
from paddle import nn

TABLE = "features"
"""The name of the table that parameter servers share out."""


@dataclass(frozen=True)
class Shape:
    slots: int = make_data.SLOTS
    dense: int = make_data.DENSE
    features: int = make_data.FEATURES
    width: int = 9
    layers: tuple[int, ...] = (64, 32)

    @property
    def inputs(self) -> list[str]:
        return [*(f"C{slot + 1}" for slot in range(self.slots)), "dense_input"]


class WideDeep(nn.Layer):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        begin = nn.initializer.Uniform(-0.05, 0.05)
        self.table = nn.Embedding(
            shape.features,
            shape.width,
            sparse=True,
            weight_attr=paddle.ParamAttr(name=TABLE, initializer=begin),
        )
        sizes = (shape.slots * shape.width + shape.dense, *shape.layers)
        deep: list[Any] = []
        for inputs, outputs in pairwise(sizes):
            deep += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.deep = nn.Sequential(*deep, nn.Linear(sizes[-1], 1))
        self.wide = nn.Linear(shape.dense, 1)

    def forward(self, sparse: Sequence[Any], dense: Any) -> Any:
        """The chance of a click [rows, 1]; *sparse*: one [rows, 1] a slot."""
        found = [paddle.flatten(self.table(slot), 1) for slot in sparse]
        return nn.functional.sigmoid(self.wide(dense) + self.deep(paddle.concat([*found, dense], 1)))


def specs(shape: Shape) -> tuple[list[Any], Any]:
    """What the network is fed with."""
    *sparse, dense = shape.inputs
    static = paddle.static.InputSpec
    slots = [static([None, 1], "int64", name) for name in sparse]
    return slots, static([None, shape.dense], "float32", dense)


def columns(sparse: Any) -> list[Any]:
    """One column a slot, from the array of a split."""
    return [sparse[:, slot : slot + 1] for slot in range(sparse.shape[1])]
