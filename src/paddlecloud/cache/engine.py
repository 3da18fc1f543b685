"""What a cache engine does: bring a source's files into a volume, verify them, say how much is there.

An engine is called from a thread and reports through `Report`; it keeps no state but the volume, so that
any call may be cut off and made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from ..errors import Failed


class Unfit(Failed):
    """The source or the volume can never work as it was given: trying again would not help."""


class File(NamedTuple):
    path: str
    """Below the root, with slashes."""
    size: int
    sha256: str


@dataclass(frozen=True)
class Contents:
    """The files of a volume, all verified."""

    files: tuple[File, ...]

    @cached_property
    def size(self) -> int:
        return sum(f.size for f in self.files)

    @cached_property
    def revision(self) -> str:
        """The identity of the data: same names, sizes and contents, same revision."""
        return revision(self.files)


@dataclass(frozen=True)
class Usage:
    """The disk a volume lies on, in bytes."""

    size: int
    used: int
    available: int


@dataclass(frozen=True)
class Amount:
    """How far a sync or a check is."""

    files: int = 0
    bytes: int = 0
    total_files: int = 0
    total_bytes: int = 0


Report = Callable[[Amount], None]


class Engine(Protocol):
    def sync(self, source: str, report: Report) -> Contents:
        """Bring every file of *source* into the volume, verified; what is there is not brought again.

        Raises `Unfit` when it never can, `Failed` when it could not now.
        """

    def verify(self, report: Report) -> Contents:
        """Read every file of the volume and check it against what was recorded, if anything was."""

    def usage(self) -> Usage: ...


def revision(files: Iterable[File]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        # Lengths first: no two lists of files can give the same text.
        path = file.path.encode(errors="surrogateescape")
        digest.update(b"%d:%s:%d:%s\n" % (len(path), path, file.size, file.sha256.encode()))
    return digest.hexdigest()
