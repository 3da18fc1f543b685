"""The object store: files by their sha256, and the manifests that name them.

A blob or a manifest appears under its name only when it is whole, and never changes after that: readers need
no lock, a crash leaves nothing that a reader could take for a version, and the same content is kept once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

CHUNK = 1 << 20
Moved = Callable[[int], None]
"""Called with the number of bytes that just went by."""


class Blob(NamedTuple):
    sha256: str
    size: int


class Item(NamedTuple):
    """Something a store keeps, as `keys` calls it."""

    key: str
    size: int
    modified: datetime


class ObjectStore(Protocol):
    """What the hub needs of a store; each URI scheme is one implementation."""

    def put(self, source: Path, moved: Moved) -> Blob:
        """Keep the content of *source*; what is kept already is checked instead of copied."""

    def has(self, sha256: str) -> bool: ...

    def open(self, sha256: str) -> BinaryIO:
        """Read a blob. Raises `NotFound`."""

    def local(self, sha256: str) -> Path | None:
        """The blob as a file of this machine, where the store has such files."""

    def write(self, key: str, content: bytes) -> None:
        """Keep a small document. Raises `Conflict` when it is there with another content."""

    def read(self, key: str) -> bytes:
        """Raises `NotFound`."""

    def items(self, prefix: str) -> Iterator[Item]:
        """What is kept under keys that begin so."""

    def remove(self, key: str) -> None:
        """Keep it no longer; nothing happens where it was not kept."""


def digest(file: BinaryIO, into: BinaryIO | None = None, moved: Moved | None = None) -> Blob:
    """The sha256 and size of what is left in *file*, copied to *into* on the way."""
    sha256, size = hashlib.sha256(), 0
    while chunk := file.read(CHUNK):
        sha256.update(chunk)
        size += len(chunk)
        if into:
            into.write(chunk)
        if moved:
            moved(len(chunk))
    return Blob(sha256.hexdigest(), size)
