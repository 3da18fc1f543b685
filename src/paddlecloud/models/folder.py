"""The files below a folder, as a model version may hold them.

Only regular files inside the folder: a symbolic link that leads out, a socket or a device is refused, never
skipped, so that what was uploaded is what was there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..errors import WrongUse
from .manifest import inside


class Entry(NamedTuple):
    path: str
    """Below the folder, with slashes."""
    at: Path
    size: int


def entries(folder: Path) -> list[Entry]:
    """Every file below *folder*, by path; what is hidden (unfinished work) or compiled is left out."""
    if not folder.is_dir():
        raise WrongUse(f"there is no folder {folder}", next_step="give the folder the model was exported to")
    root = folder.resolve()
    found: list[Entry] = []
    for parent, folders, files in os.walk(root, onerror=unreadable):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        for below in (Path(parent) / f for f in folders):
            if below.is_symlink():
                raise WrongUse(f"{below} is a link to a folder", next_step="copy the folder instead")
        for name in sorted(f for f in files if not f.startswith(".")):
            at = Path(parent) / name
            found.append(entry(root, at))
    return found


def entry(root: Path, at: Path) -> Entry:
    path = at.relative_to(root).as_posix()
    inside(path)
    target = at.resolve()
    if not target.is_relative_to(root):
        raise WrongUse(f"{path} is a link that leads out of {root}", next_step="copy the file instead")
    if not target.is_file():
        raise WrongUse(f"{path} in {root} is no regular file", next_step="remove it from the model's folder")
    return Entry(path, target, target.stat().st_size)


def unreadable(error: OSError) -> None:
    raise WrongUse(f"{error.filename} cannot be read: {error.strerror}") from error
