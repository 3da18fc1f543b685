"""The folders and files of a mounted file system, without what the client itself shows in its root.

A driver of Kubernetes mounts with those shown: `.config` would be a file of the set, `.trash` its old ones.
No file of a user can have such a name there, whether they are shown or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

NAMES = ("control", "accesslog", "stats", "config", "trash")
INTERNAL = frozenset(f"{before}.{name}" for before in ("", ".jfs") for name in NAMES)


def folders(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Each folder with its files, in their order; raises `OSError` for one that cannot be read."""

    def unreadable(error: OSError) -> None:
        # Without this a folder that cannot be listed would pass for an empty one.
        raise error

    root = os.fspath(data)
    for folder, below, names in os.walk(root, onerror=unreadable):
        if folder == root:
            below[:] = [name for name in below if name not in INTERNAL]
            names = [name for name in names if name not in INTERNAL]
        below.sort()
        yield folder, sorted(names)


def shown(folder: Path) -> list[str]:
    """What the client shows of itself in *folder*: in the root of some mounts, nowhere else."""
    try:
        return sorted(INTERNAL.intersection(os.listdir(folder))) if folder.is_mount() else []
    except OSError:
        # Whoever works on it then tells why it cannot be read.
        return []
