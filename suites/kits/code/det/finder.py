"""A small detector without anchors: every eighth pixel tells what is there, and where its edges are."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional as F

STRIDE = 8
WIDTH = 16
RARE = 0.02  # how likely a thing is held to be at first
NEAR = 0.35  # part of a box around its middle that is learnt as a thing


def softplus(x: Any) -> Any:
    """log(1 + e^x) in operators that ONNX has words for, too: paddle2onnx refuses that of Paddle."""
    return F.relu(x) + paddle.log(1 + paddle.exp(-paddle.abs(x)))


class Finder(nn.Layer):
    """Pictures [n, 3, side, side] in; scores [n, places, classes] and boxes [n, places, 4] in pixels out."""

    def __init__(self, classes: int, side: int, width: int = WIDTH) -> None:
        super().__init__()
        self.features = nn.Sequential(
            block(3, width, 2), block(width, 2 * width, 2), block(2 * width, 4 * width, 2),
            block(4 * width, 4 * width, 1), block(4 * width, 4 * width, 1),
        )  # fmt: skip
        rare = nn.initializer.Constant(-float(paddle.log(paddle.to_tensor((1 - RARE) / RARE))))
        self.scores = nn.Conv2D(4 * width, classes, 1, bias_attr=paddle.ParamAttr(initializer=rare))
        self.edges = nn.Conv2D(4 * width, 4, 1)
        self.side = side
        self.register_buffer("middles", middles(side), persistable=False)

    def forward(self, image: Any) -> tuple[Any, Any]:
        found = self.features(image)
        scores = F.sigmoid(self.scores(found)).flatten(2).transpose([0, 2, 1])
        # Distances from the middle to left, top, right and bottom, in pixels.
        away = softplus(self.edges(found)).flatten(2).transpose([0, 2, 1]) * STRIDE
        low, high = self.middles - away[:, :, :2], self.middles + away[:, :, 2:]
        return scores, paddle.concat([low, high], 2)


def block(inputs: int, outputs: int, stride: int) -> Any:
    kernel = nn.Conv2D(inputs, outputs, 3, stride=stride, padding=1, bias_attr=False)
    return nn.Sequential(kernel, nn.BatchNorm2D(outputs), nn.ReLU())


def middles(side: int) -> Any:
    """The middle of every place [places, 2], row by row."""
    steps = paddle.arange(side // STRIDE, dtype="float32") * STRIDE + STRIDE / 2
    rows, columns = paddle.meshgrid(steps, steps)
    return paddle.stack([columns.flatten(), rows.flatten()], 1)


def losses(scores: Any, boxes: Any, wanted: Any, truth: Any) -> dict[str, Any]:
    """*wanted* [n, places, classes]: 1 where a thing is; *truth* [n, places, 4]: its box."""
    there = wanted.max(2)
    count = there.sum().clip(1.0)
    chance = scores.clip(1e-6, 1 - 1e-6)
    # What is nearly right already weighs little: there are many more places without things than with.
    weight = wanted * (1 - chance) ** 2 * 0.75 + (1 - wanted) * chance**2 * 0.25
    surprise = -(wanted * chance.log() + (1 - wanted) * (1 - chance).log())
    kind = 4.0 * (weight * surprise).sum() / count
    place = ((1 - overlap(boxes, truth)) * there).sum() / count
    return {"loss": kind + place, "loss_cls": kind, "loss_bbox": place}


def overlap(one: Any, other: Any) -> Any:
    """Common area through the area of both together, less the part of their frame that neither covers."""
    low, high = paddle.maximum(one[..., :2], other[..., :2]), paddle.minimum(one[..., 2:], other[..., 2:])
    least, most = paddle.minimum(one[..., :2], other[..., :2]), paddle.maximum(one[..., 2:], other[..., 2:])
    common = area(low, high)
    both = area(one[..., :2], one[..., 2:]) + area(other[..., :2], other[..., 2:]) - common
    frame = area(least, most)
    return common / (both + 1e-6) - (frame - both) / (frame + 1e-6)


def area(low: Any, high: Any) -> Any:
    # Multiplied one by one: a product over an axis has no gradient where one side is nothing.
    size = (high - low).clip(0.0)
    return size[..., 0] * size[..., 1]
