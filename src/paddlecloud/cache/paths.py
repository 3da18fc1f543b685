"""Names below the root of a set: what a user, a bucket or an archive calls a file, made safe to join.

A name that passed here cannot lead out of the folder it is joined to, whatever it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .engine import Unfit

LONGEST = 255


def inside(name: str) -> str:
    """*name* as a clean path below the root, "" for the root itself. Raises `Unfit` if it leaves it."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Unfit(f"the path {name!r} leads out of the sample set", next_step="remove the `..`")
    if "\0" in name:
        raise Unfit(f"the path {name!r} has a zero byte in it")
    return "/".join(parts)


def exact(name: str) -> str:
    """The name of a file at a source, which must be a path as it stands: no two may fall into one."""
    parts = name.split("/")
    if {"", ".", ".."} & {*parts} or "\0" in name:
        raise Unfit(
            f"the source has a file named {name!r}, which cannot be a path in a folder",
            next_step="rename it at the source, or leave it out with `exclude`",
        )
    if any(len(part.encode(errors="surrogateescape")) > LONGEST for part in parts):
        raise Unfit(f"the source has a file with a name of more than {LONGEST} bytes: {name[:80]!r}…")
    return name


def covered(path: str, roots: Iterable[str]) -> bool:
    """Whether *path* is one of *roots* or below one; the root "" covers everything."""
    return any(not root or path == root or path.startswith(root + "/") for root in roots)


def guarded(root: Path, path: str) -> Path:
    """*path* joined to *root*. Raises `Unfit` when a link that lies on the way leads out."""
    joined = root / path
    if not joined.parent.resolve().is_relative_to(root.resolve()):
        raise Unfit(
            f"{path} lies behind a link that leads out of the sample set", next_step="remove the link"
        )
    return joined
