"""What a model takes and gives: names, types and shapes, read from its files.

Nouns only. Whatever reaches an engine fits its signature; a refusal quotes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Arrays = dict[str, Any]
"""Arrays by the names of their tensors."""


@dataclass(frozen=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]
    """-1 where any size goes."""

    @property
    def batched(self) -> bool:
        """Whether the first axis counts samples."""
        return bool(self.shape) and self.shape[0] in (-1, 1)

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Signature:
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def __str__(self) -> str:
        takes, gives = (", ".join(map(str, side)) for side in (self.inputs, self.outputs))
        return f"the model takes {takes} and gives {gives}"


def fits(shape: tuple[int, ...], allowed: tuple[int, ...]) -> bool:
    return len(shape) == len(allowed) and all(b in (-1, a) for a, b in zip(shape, allowed, strict=True))
