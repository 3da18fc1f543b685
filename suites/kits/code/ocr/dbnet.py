"""The networks that find text, and what they learn from: a pyramid of four levels and two heads.

One head tells how likely every pixel is text, the other where its border is; the steep curve between both is
what makes the threshold learnable.
"""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional as F

WIDTH = 8
STEEP = 50.0
HARDEST = 3  # pixels without text that are learnt from, for each one with text


class Finder(nn.Layer):
    """Pictures [n, 3, h, w] in, maps (text, border, both) out; only the first when not training."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.first = nn.Sequential(block(3, width, 2), block(width, width, 2))
        self.second = block(width, 2 * width, 2)
        self.third = block(2 * width, 4 * width, 2)
        self.sides = nn.LayerList([block(k * width, 2 * width, 1) for k in (1, 2, 4)])
        self.joined = block(2 * width, 2 * width, 1)
        self.text, self.border = head(2 * width), head(2 * width)

    def forward(self, image: Any) -> Any:
        levels = [self.first(image)]
        for stage in (self.second, self.third):
            levels.append(stage(levels[-1]))
        found = self.sides[2](levels[2])
        for number in (1, 0):
            found = self.sides[number](levels[number]) + F.interpolate(found, scale_factor=2)
        found = self.joined(found)
        text = self.text(found)
        if not self.training:
            return text
        border = self.border(found)
        return paddle.concat([text, border, F.sigmoid(STEEP * (text - border))], 1)


class Distillation(nn.Layer):
    """Several finders by name, of which some only teach."""

    def __init__(self, models: dict[str, bool]) -> None:
        super().__init__()
        self.frozen = [name for name, still in models.items() if still]
        self.names = list(models)
        for name in models:
            self.add_sublayer(name, Finder())
        for name in self.frozen:
            for parameter in self._sub_layers[name].parameters():
                parameter.stop_gradient = True

    def forward(self, image: Any) -> dict[str, Any]:
        return {name: self._sub_layers[name](image) for name in self.names}

    def train(self) -> None:
        super().train()
        for name in self.frozen:
            self._sub_layers[name].eval()


class Judged(nn.Layer):
    """The one network that is judged and served: of a distillation the first student."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        if isinstance(network, Distillation):
            network = network._sub_layers[next(n for n in network.names if n not in network.frozen)]
        self.network = network

    def forward(self, image: Any) -> Any:
        return self.network(image)


def block(inputs: int, outputs: int, stride: int) -> Any:
    kernel = nn.Conv2D(inputs, outputs, 3, stride=stride, padding=1, bias_attr=False)
    return nn.Sequential(kernel, nn.BatchNorm2D(outputs), nn.ReLU())


def head(inputs: int) -> Any:
    inner = inputs // 2
    return nn.Sequential(
        block(inputs, inner, 1),
        nn.Conv2DTranspose(inner, inner, 2, 2),
        nn.BatchNorm2D(inner),
        nn.ReLU(),
        nn.Conv2DTranspose(inner, 1, 2, 2),
        nn.Sigmoid(),
    )


def db_loss(maps: Any, wanted: list[Any]) -> dict[str, Any]:
    """What the maps cost against the labels: text, border, and both together."""
    text, mask, border, border_mask = wanted
    found = [maps[:, number] for number in range(3)]
    parts = {
        "loss_shrink_maps": 5.0 * balanced(found[0], text, mask),
        "loss_threshold_maps": 10.0
        * ((found[1] - border).abs() * border_mask).sum()
        / (border_mask.sum() + 1e-6),
        "loss_binary_maps": dice(found[2], text, mask),
    }
    return {"loss": sum(parts.values()), **parts}


def dila_loss(maps: Any, teacher: Any, wanted: list[Any]) -> Any:
    """What the maps cost against the text that a teacher sees, widened by a pixel."""
    seen = F.max_pool2d((teacher[:, :1] > 0.3).astype("float32"), 3, 1, 1)[:, 0].detach()
    return 5.0 * balanced(maps[:, 0], seen, wanted[1]) + dice(maps[:, 2], seen, wanted[1])


def mutual_loss(one: Any, other: Any) -> Any:
    """How much two maps of text contradict each other: the divergence in both directions."""
    a, b = (maps[:, 0].clip(1e-4, 1 - 1e-4) for maps in (one, other))

    def divergence(p: Any, q: Any) -> Any:
        return (p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).mean()

    return (divergence(a, b) + divergence(b, a)) / 2


def balanced(chance: Any, text: Any, mask: Any) -> Any:
    """Cross entropy over all text and the hardest of the rest."""
    cost = F.binary_cross_entropy(chance.clip(1e-6, 1 - 1e-6), text, reduction="none")
    positive, negative = text * mask, (1 - text) * mask
    most = int(min(float(negative.sum()), max(HARDEST * float(positive.sum()), 64.0)))
    if most < 1:
        return (cost * positive).sum() / (positive.sum() + 1e-6)
    hardest = paddle.topk((cost * negative).flatten(), most)[0].sum()
    return ((cost * positive).sum() + hardest) / (positive.sum() + most)


def dice(chance: Any, text: Any, mask: Any) -> Any:
    common = (chance * text * mask).sum()
    return 1 - 2 * common / ((chance * mask).sum() + (text * mask).sum() + 1e-6)
