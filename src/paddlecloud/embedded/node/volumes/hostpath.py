"""Paths of the machine, checked against the type that the pod says they have.

Nodes of one machine share its paths, but for those below `/var/lib/paddlecloud`: there each has its own disk.
A folder on that disk that was made for pods goes with the last of them if it is empty.
"""

from __future__ import annotations

import json
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


OWN = "/var/lib/paddlecloud/"
RECORD = "folders.json"


def on_disk(text: str, disk: Path | None) -> str:
    """The path that *text* is on a node with that *disk*; without one, and elsewhere, it is the machine's."""
    if disk is None or not text.startswith(OWN):
        return text
    # Joined as a text: what leads out of it with `..` is refused later, not resolved.
    return f"{disk}/{text.removeprefix(OWN)}"


def note(pod: Path, path: Path) -> None:
    """Write down in the folder of a *pod* that it uses a folder on the disk of its node."""
    known = noted(pod)
    if str(path) not in known:
        new = pod / (RECORD + ".new")
        new.write_text(json.dumps([*known, str(path)]), encoding="utf-8")
        new.rename(pod / RECORD)


def noted(pod: Path) -> list[str]:
    try:
        found: list[str] = json.loads((pod / RECORD).read_bytes())
    except (FileNotFoundError, ValueError):
        return []
    return found


def tidy(pod: Path, disk: Path) -> None:
    """The *pod* is gone: its folders on the *disk* go where nothing is in them, and those above them."""
    for text in noted(pod):
        path = Path(text)
        while path != disk and path.is_relative_to(disk):
            try:
                path.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                break
            path = path.parent


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
