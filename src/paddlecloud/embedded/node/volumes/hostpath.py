"""Paths of the machine, checked against the type that the pod says they have."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from .places import failed

CHECKS: dict[str, tuple[Callable[[int], bool], str]] = {
    "Directory": (stat.S_ISDIR, "a directory"),
    "DirectoryOrCreate": (stat.S_ISDIR, "a directory"),
    "File": (stat.S_ISREG, "a file"),
    "FileOrCreate": (stat.S_ISREG, "a file"),
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


def checked(volume: str, text: str, kind: str) -> Path:
    """The path, made where its type says so; raises `VolumeMissing` for one of another type."""
    path = Path(text)
    if not path.is_absolute() or ".." in path.parts:
        raise failed(volume, f"{text!r} is not an absolute path without `..`", "write the path it means")
    if kind and kind not in CHECKS:
        raise failed(volume, f"hostPath type {kind} is not known", f"known: {', '.join(CHECKS)}")
    if kind.endswith("OrCreate") and not path.exists():
        make(volume, path, kind)
    if not kind:
        if not path.exists() and not path.is_symlink():
            # As a container runtime does for a path that nobody described.
            make(volume, path, "DirectoryOrCreate")
        return path
    fits, what = CHECKS[kind]
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = 0
    if not fits(mode):
        raise failed(volume, f"hostPath type check failed: {path} is not {what}", "make it on this machine")
    return path


def make(volume: str, path: Path, kind: str) -> None:
    try:
        if kind == "DirectoryOrCreate":
            path.mkdir(parents=True, exist_ok=True, mode=0o755)
        else:
            path.touch(mode=0o644)
    except OSError as error:
        raise failed(volume, f"cannot make {path}: {error.strerror}") from error
