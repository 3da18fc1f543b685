"""The sum of a file: the SHA-256 of a small one; of a large one the XXH3 of the sums of its parts.

Parts may come in any order and are summed by those who bring them, at the same time: nothing is read again,
and no one thread sums it all. The text says which kind of sum it is, so that a record of before holds true.
A sum tells a copy that was damaged or changed by hand, nobody's signature: what the source itself promises of
its content is compared besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from xxhash import xxh3_128

LARGE = 64 << 20
"""Bytes from which on a file has the sum of its parts, and is worth more than one connection."""
HUGE = 256 << 20
"""Bytes from which on parts are larger: each costs its server a request, and what it reads ahead in vain."""


class Sum(Protocol):
    def update(self, data: bytes | memoryview, /) -> object: ...


class Digest(Sum, Protocol):
    def digest(self) -> bytes: ...


class Kind(NamedTuple):
    """How a large file is summed."""

    name: str
    """With which the text of such a sum begins."""
    part: int
    new: Callable[[], Digest]

    def text(self, sums: Iterable[bytes]) -> str:
        """The sum of a file by that of each part, in their order."""
        whole = self.new()
        whole.update(b"".join(sums))
        return self.name + whole.digest().hex()


# A twentieth of the time of SHA-256: of a large file summing was a fifth of all the work of bringing it.
PARTS = Kind("xxh3-16m-", 16 << 20, xxh3_128)
LARGE_PARTS = Kind("xxh3-64m-", 64 << 20, xxh3_128)
KINDS = (PARTS, LARGE_PARTS)


def kind(size: int, like: str = "") -> Kind | None:
    """How a file of *size* bytes is summed, if in parts; as in the sum *like* if given."""
    if like:
        return next((one for one in KINDS if like.startswith(one.name)), None)
    if size < LARGE:
        return None
    return PARTS if size < HUGE else LARGE_PARTS


class FileSum:
    """The sum of a file of *size* bytes that come in their order; of the kind of *like* if given."""

    def __init__(self, size: int, like: str = "") -> None:
        self._kind = kind(size, like)
        self._now: Digest = self._kind.new() if self._kind else hashlib.sha256()
        self._left = self._kind.part if self._kind else 0
        self._ended: list[bytes] = []

    def update(self, data: bytes | memoryview, /) -> None:
        if self._kind is None:
            self._now.update(data)
            return
        rest = memoryview(data)
        while rest:
            taken = rest[: self._left]
            self._now.update(taken)
            self._left -= len(taken)
            rest = rest[len(taken) :]
            if not self._left:
                self._ended.append(self._now.digest())
                self._now, self._left = self._kind.new(), self._kind.part

    def text(self) -> str:
        if self._kind is None:
            return self._now.digest().hex()
        begun = self._left < self._kind.part
        return self._kind.text([*self._ended, self._now.digest()] if begun else self._ended)
