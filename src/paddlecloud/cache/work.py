"""Reading and copying many files at once, with one count of what went by.

A copy is made aside, read back and compared, and only then given its name.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from ..errors import Failed
from .engine import Amount, File, Report
from .listing import Found

CHUNK = 1 << 20
AT_ONCE = 4
Counted = Callable[[int], None]
"""Hears how many bytes went by; a negative number takes some back."""
Work = Callable[[Found, Counted], File]


def together(work: Work, files: list[Found], report: Report) -> tuple[File, ...]:
    """Do *work* for every file, several at a time; the first error ends all."""
    tally = Tally(files, report)
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="samples")
    try:
        return tuple(pool.map(partial(tally.counted, work), files))
    finally:
        pool.shutdown(cancel_futures=True)


class Tally:
    """Adds up what the workers did and reports the sums."""

    def __init__(self, files: list[Found], report: Report) -> None:
        self._totals = len(files), sum(f.size for f in files)
        self._files = self._bytes = 0
        self._report = report
        self._lock = threading.Lock()
        self._add(0, 0)

    def counted(self, work: Work, found: Found) -> File:
        file = work(found, partial(self._add, 0))
        self._add(1, 0)
        return file

    def _add(self, files: int, size: int) -> None:
        with self._lock:
            self._files += files
            self._bytes += size
            self._report(Amount(self._files, self._bytes, *self._totals))


def same(path: Path, found: Found) -> bool:
    """Whether *path* has the size and the time of the file at the source."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (found.size, found.mtime_ns)


def read(found: Found, count: Counted) -> File:
    with found.at.open("rb") as file:
        digest = summed(file, count)
    return File(found.path, found.size, digest)


def copy(found: Found, target: Path, parts: Path, count: Counted) -> File:
    """Bring the file to *target* by way of the folder *parts*. Raises `Failed` when it changes meanwhile."""
    # Paths are different, so are their sums: no two copies share a name.
    part = parts / sha256(os.fsencode(found.path)).hexdigest()
    with found.at.open("rb") as source, part.open("wb") as written:
        digest = summed(source, count, into=written)
    with part.open("rb") as written:
        kept = summed(written, lambda _: None)
    status = found.at.stat()
    if (status.st_size, status.st_mtime_ns) != (found.size, found.mtime_ns):
        raise Failed(f"{found.path} changed at the source while it was copied")
    if kept != digest or part.stat().st_size != found.size:
        raise Failed(f"{found.path} was not written as it was read; the disk of the volume may be failing")
    # With the time of the source: by it the next look knows the file again.
    os.utime(part, ns=(found.mtime_ns, found.mtime_ns))
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(part, target)
    return File(found.path, found.size, digest)


def summed(file: BinaryIO, count: Counted, into: BinaryIO | None = None) -> str:
    digest = sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
        if into is not None:
            into.write(chunk)
        count(len(chunk))
    return digest.hexdigest()
