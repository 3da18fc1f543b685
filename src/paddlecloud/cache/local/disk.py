"""The disk under a volume: what lies there, whether there is room, and its errors as sentences."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import Failed
from ...sizes import size as shown
from ..paths import guarded
from .choosing import Lying

_LIBC = ctypes.CDLL(None, use_errno=True)


def lying(data: Path, path: str) -> Lying | None:
    """How the file lies there; None when it is none."""
    try:
        status = os.lstat(f"{data}/{path}")
    except OSError:
        return None
    return Lying(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def counted(data: Path, copies: Iterable[tuple[bytes, int, int]]) -> tuple[int, int, int, int]:
    """Files and bytes in all, and of those that lie as they should: path, size and time."""
    files = size = near_files = near_size = 0
    root = os.fsencode(data) + b"/"
    # One by one and without objects for each: there may be a hundred thousand, every few seconds.
    for path, expected, time_ns in copies:
        files, size = files + 1, size + expected
        try:
            status = os.lstat(root + path)
        except OSError:
            continue
        if status.st_size == expected and status.st_mtime_ns == time_ns and stat.S_ISREG(status.st_mode):
            near_files, near_size = near_files + 1, near_size + expected
    return files, size, near_files, near_size


def room(data: Path, need: int) -> None:
    """Raises `Failed` when *need* bytes more do not fit."""
    if need > (free := shutil.disk_usage(data).free):
        raise Failed(
            f"the samples need {shown(need)} more, and the disk of the volume has {shown(free)} left",
            next_step="free space on that disk",
        )


def reserve(file: int, size: int) -> None:
    """Take the room of *size* bytes at once, quicker than piece by piece; the file is that long then.

    Not with `posix_fallocate`, which writes where a file system cannot: there nothing is done.
    """
    if (
        _LIBC.fallocate64(file, 0, ctypes.c_int64(0), ctypes.c_int64(size))
        and ctypes.get_errno() == errno.ENOSPC
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def emptied(data: Path, root: str, check: Callable[[], None], without: Path) -> int:
    """Remove what is at or below *root*, but not the folder *without*; the number of files that went."""
    at = guarded(data, root) if root else data
    if at.is_symlink() or not at.is_dir():
        there = at.is_symlink() or at.exists()
        at.unlink(missing_ok=True)
        return int(there)
    deleted = 0
    with os.scandir(at) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            check()
            if Path(entry.path) == without:
                continue
            below = f"{root}/{entry.name}" if root else entry.name
            deleted += emptied(data, below, check, without)
    if root:
        at.rmdir()
    return deleted


def pruned(folder: Path) -> None:
    """Remove the folders below *folder* that hold no file."""
    for parent, _, _ in os.walk(folder, topdown=False):
        if Path(parent) != folder:
            with suppress(OSError):
                os.rmdir(parent)


@contextmanager
def disk_errors(volume: Path) -> Iterator[None]:
    """Errors of the operating system and of the record, as sentences."""
    try:
        yield
    except sqlite3.Error as error:
        full = "full" in str(error)
        raise Failed(
            f"the record of {volume} cannot be used: {error}",
            next_step="free space on the disk of the volume" if full else "",
        ) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise Failed(
            f"{error.filename or volume}: {error.strerror}",
            next_step="free space on the disk of the volume" if full else "",
        ) from error
