"""The sum of a file: the SHA-256 of a small one; of a large one the SHA-256 of the sums of its parts.

Parts may come in any order and are summed by those who bring them, at the same time: nothing is read again,
and no one thread sums it all. The text says which kind of sum it is, so that a record of before holds true.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

PART = 16 << 20
LARGE = 64 << 20
"""Bytes from which on a file has the sum of its parts, and is worth more than one connection."""
OF_PARTS = "parts-16m-"


def of_parts(sums: Iterable[bytes]) -> str:
    """The sum of a large file by the SHA-256 of each part, in their order."""
    return OF_PARTS + hashlib.sha256(b"".join(sums)).hexdigest()


class FileSum:
    """The sum of a file of *size* bytes that come in their order; of the kind of *like* if given."""

    def __init__(self, size: int, like: str = "") -> None:
        self._in_parts = like.startswith(OF_PARTS) if like else size >= LARGE
        self._now, self._left = hashlib.sha256(), PART
        self._ended: list[bytes] = []

    def update(self, data: bytes | memoryview, /) -> None:
        if not self._in_parts:
            return self._now.update(data)
        rest = memoryview(data)
        while rest:
            taken = rest[: self._left]
            self._now.update(taken)
            self._left -= len(taken)
            rest = rest[len(taken) :]
            if not self._left:
                self._ended.append(self._now.digest())
                self._now, self._left = hashlib.sha256(), PART

    def text(self) -> str:
        if not self._in_parts:
            return self._now.hexdigest()
        return of_parts(self._ended if self._left == PART else [*self._ended, self._now.digest()])
