"""How far the work on an image is: what those who watch are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Step:
    doing: Literal["waiting", "downloading", "unpacking"]
    digest: str = ""
    """Of the part of the image that is worked on."""
    done: int = 0
    total: int = 0
    """Bytes; 0 where nobody knows."""


Report = Callable[[Step], None]


def silent(_: Step) -> None:
    """For those who only want the result."""
