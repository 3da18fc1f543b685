"""What a cache engine does: bring a source's files into a volume, check, warm and drop them, count them.

An engine is called from a thread, one call at a time, and speaks through `Run`. It keeps no state but the
volume: any call may be cut off at any point and made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ..errors import Failed
from ..signing import Keys as Keys


class Unfit(Failed):
    """The source, the wish or the volume can never work as given: trying again would not help."""


class Cancelled(Failed):
    """Somebody asked for the end of the operation."""


class File(NamedTuple):
    path: str
    """Below the root, with slashes."""
    size: int
    sha256: str
    """Of the content, or of the sums of its parts; empty where the engine does not know it."""


@dataclass(frozen=True)
class Amount:
    """How far an operation is."""

    files: int = 0
    bytes: int = 0
    total_files: int = 0
    total_bytes: int = 0


class Run(Protocol):
    """One operation under way."""

    def report(self, amount: Amount) -> None:
        """Tell how far it is; from any thread."""

    def check(self) -> None:
        """Raise `Cancelled` when the operation is to end."""


@dataclass(frozen=True)
class SyncWish:
    """What to bring, from where, and how: the options of `juicefs sync`, with its meanings."""

    source: str
    keys: Keys | None = None
    destination: str = ""
    start: str = ""
    end: str = ""
    threads: int = 10
    update: bool = False
    force_update: bool = False
    perms: bool = False
    dirs: bool = False
    dry: bool = False
    delete_src: bool = False
    delete_dst: bool = False
    exclude: str = ""
    include: str = ""
    bwlimit: int = 0
    """Megabits a second; 0 is no limit."""
    no_https: bool = False
    keys_name: str = ""
    """The Secret the keys came from; an engine that reads the source again later may note it."""


@dataclass(frozen=True)
class MeasureWish:
    """What to measure, and how much it may cost."""

    source: str
    """Empty where the set names none."""
    keys: Keys | None = None
    readers: int = 2
    """As many as will read when a training runs."""
    threads: int = 10
    """As many as a warm-up takes."""
    seconds: float = 6.0
    bytes: int = 256 << 20


@dataclass(frozen=True)
class Outcome:
    """What an operation did."""

    files: int = 0
    bytes: int = 0
    copied: int = 0
    skipped: int = 0
    deleted: int = 0
    revision: str = ""
    measured: dict[str, float] = field(default_factory=dict)
    """Bytes a second: `link`, `cold` and `near`."""


@dataclass(frozen=True)
class Holding:
    """What the volume is known to hold, what of it is near, and the disk, in bytes."""

    total_files: int = 0
    total_bytes: int = 0
    cached_files: int = 0
    cached_bytes: int = 0
    disk_size: int = 0
    disk_used: int = 0
    disk_avail: int = 0
    revision: str = ""


@dataclass(frozen=True)
class Changes:
    """What is different at a source since a sync, in files."""

    new: int = 0
    changed: int = 0
    gone: int = 0
    example: str = ""

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


class Engine(Protocol):
    """A call raises `Unfit` when it never can, `Failed` when it could not now, `Cancelled` when told to."""

    def sync(self, wish: SyncWish, run: Run) -> Outcome:
        """Bring the files of the source into the volume; what is there unchanged is not brought again."""

    def verify(self, run: Run) -> Outcome:
        """Read every recorded file; raise `Failed` for the first that is missing or wrong."""

    def warm(self, files: Sequence[str] | None, threads: int, run: Run, bwlimit: int = 0) -> Outcome:
        """Have these files near (None: all); paths are below the root, *bwlimit* is megabits a second."""

    def remove(self, paths: Sequence[str], run: Run) -> Outcome:
        """Delete from the data itself."""

    def clear(self, paths: Sequence[str], run: Run) -> Outcome:
        """Drop from the cache alone; no paths: everything."""

    def leave(self, run: Run) -> Outcome:
        """Drop what this node holds of the set, for it is needed here no more; no only copy goes."""

    def compare(self, wish: SyncWish, run: Run) -> Changes | None:
        """How the source differs from what that sync brought, by its listing; None where that is dear."""

    def measure(self, wish: MeasureWish, run: Run) -> Outcome:
        """How fast files come over the link and from near, within the time and bytes of *wish*."""

    def holding(self) -> Holding:
        """The truth of the moment; cheap enough to be asked every few seconds."""


def revision(files: Iterable[File]) -> str:
    """The identity of the data: same names, sizes and contents, same revision."""
    digest = hashlib.sha256()
    for file in sorted(files):
        # Lengths first: no two lists of files can give the same text.
        path = file.path.encode(errors="surrogateescape")
        digest.update(b"%d:%s:%d:%s\n" % (len(path), path, file.size, file.sha256.encode()))
    return digest.hexdigest()
