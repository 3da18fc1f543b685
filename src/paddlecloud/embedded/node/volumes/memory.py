"""Folders in memory, for secrets and for pods that ask for memory: nothing of them reaches a disk.

The kernel's shared-memory file system is used where the machine has one. One folder a home and one below it a
pod, closed to other users; what cannot be made or is not ours is not used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Collection
from pathlib import Path

SHARED = Path("/dev/shm")


def root_of(home: Path, shared: Path = SHARED) -> Path | None:
    """The folder of *home* in memory; None where there is none for us."""
    if not in_memory(shared):
        return None
    root = path_of(home, shared)
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        found = os.lstat(root)
    except OSError:
        return None
    # Everybody may write beside it: somebody else's folder or link of that name is not ours.
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return root if ours and stat.S_IMODE(found.st_mode) == 0o700 else None


def path_of(home: Path, shared: Path) -> Path:
    name = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:16]
    return shared / f"paddlecloud-{os.geteuid()}-{name}"


def clear(home: Path, shared: Path = SHARED) -> None:
    """Leave nothing of *home* in memory."""
    if (root := root_of(home, shared)) is not None:
        shutil.rmtree(root, ignore_errors=True)


def in_memory(folder: Path) -> bool:
    """Whether a folder is the root of a file system in memory."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return False
    mounted = [fields for fields in (line.split() for line in lines) if fields[4] == str(folder)]
    return bool(mounted) and mounted[-1][mounted[-1].index("-") + 1] == "tmpfs"


def place_of(root: Path | None, pod: str) -> Path | None:
    """The folder of one pod, made by whoever puts something there."""
    return root / pod if root is not None else None


def keep(root: Path | None, pods: Collection[str]) -> None:
    """Only these pods are left: remove what others had."""
    if root is None:
        return
    for path in root.iterdir():
        if path.name not in pods:
            shutil.rmtree(path, ignore_errors=True)


def forget(root: Path | None, pod: str) -> None:
    if root is not None and (root / pod).is_dir():
        shutil.rmtree(root / pod, ignore_errors=True)
