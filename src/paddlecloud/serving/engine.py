"""One model behind one function: arrays in, arrays out, whatever library computes it.

An engine is loaded once and may be run from several threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from .signature import Arrays, Signature


class Engine(Protocol):
    platform: str
    """As the Open Inference Protocol names the library."""

    @property
    def signature(self) -> Signature: ...

    def run(self, names: list[str], arrays: Arrays) -> list[Any]:
        """The outputs of these names. Raises `BadRequest` when the model refuses the arrays."""
        ...


@dataclass(frozen=True)
class Effort:
    """What an engine may use."""

    threads: int = 1
    """Of one inference."""
    concurrent: int = 1
    """Inferences at a time."""
