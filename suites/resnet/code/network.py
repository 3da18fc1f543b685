"""A ResNet small enough for one core: three stages of one block each."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from paddle import nn
from paddle.nn.functional import relu

WIDTHS = (16, 32, 64)


class Block(nn.Layer):
    """Two convolutions beside a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = convolution(outputs, outputs, 3, 1)
        same = inputs == outputs and stride == 1
        self.around = nn.Identity() if same else convolution(inputs, outputs, 1, stride)

    def forward(self, x: Any) -> Any:
        return relu(self.second(relu(self.first(x))) + self.around(x))


def convolution(inputs: int, outputs: int, size: int, stride: int) -> Any:
    kernel = nn.Conv2D(inputs, outputs, size, stride=stride, padding=size // 2, bias_attr=False)
    return nn.Sequential(kernel, nn.BatchNorm2D(outputs))


def resnet(classes: int) -> Any:
    """Images [n, 3, height, width] in, one score a class out."""
    stages = [Block(a, b, 2) for a, b in pairwise(WIDTHS)]
    return nn.Sequential(
        convolution(3, WIDTHS[0], 3, 2),
        nn.ReLU(),
        Block(WIDTHS[0], WIDTHS[0], 1),
        *stages,
        nn.AdaptiveAvgPool2D(1),
        nn.Flatten(),
        nn.Linear(WIDTHS[-1], classes),
    )
