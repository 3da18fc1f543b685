"""The files below a folder, in the order of their paths.

Links are followed to regular files inside the folder only: data must not be drawn in from elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import Failed
from .engine import Unfit

OURS = ".paddlecloud"


class Found(NamedTuple):
    path: str
    at: Path
    size: int
    mtime_ns: int


def listing(root: Path) -> list[Found]:
    """Every file below *root* but our own records. Raises `Unfit` or `Failed` for what cannot be data."""
    return sorted(walk(root.resolve()))


def walk(root: Path) -> Iterator[Found]:
    for parent, folders, files in os.walk(root, onerror=unreadable):
        if Path(parent) == root and OURS in folders:
            folders.remove(OURS)
        for name in folders:
            if (Path(parent) / name).is_symlink():
                raise Unfit(
                    f"{Path(parent) / name} is a link to a folder", next_step="copy the folder instead"
                )
        for name in files:
            yield found(root, Path(parent) / name)


def found(root: Path, at: Path) -> Found:
    try:
        target = at.resolve(strict=True)
        status = target.stat()
    except OSError as error:
        raise Failed(f"{at} cannot be read: {error.strerror}") from error
    if not target.is_relative_to(root):
        raise Unfit(f"{at} is a link that leads out of {root}", next_step="copy the file instead")
    if not target.is_file():
        raise Unfit(f"{at} is no regular file", next_step="remove it from the source")
    return Found(at.relative_to(root).as_posix(), target, status.st_size, status.st_mtime_ns)


def unreadable(error: OSError) -> None:
    raise Failed(f"{error.filename} cannot be read: {error.strerror}") from error
