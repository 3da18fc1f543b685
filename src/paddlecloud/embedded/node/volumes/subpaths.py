"""A path inside a volume that stays inside, whatever links the volume holds.

Files that the cluster fills are links by themselves: they lead to a version inside the volume, and that is
allowed. Everything is resolved first and compared afterwards, and missing folders are made only below what
was found to be inside. Sandboxes look the path up once more with the kernel's own check.
"""

from __future__ import annotations

from pathlib import Path

from ..obstacles import VolumeMissing


def below(volume: Path, sub_path: str, *, resolve: bool = True) -> Path:
    """*sub_path* of *volume*, made as folders where it is missing; raises for one that leads out.

    Without *resolve* links are left to whoever opens the path; nothing is made behind one that leads out.
    """
    if not sub_path:
        return volume
    if sub_path.startswith("/") or ".." in sub_path.split("/"):
        raise outside(sub_path)
    path, root = volume / sub_path, volume.resolve()
    there = path
    while not there.exists() and not there.is_symlink():
        there = there.parent
    inside = there.resolve().is_relative_to(root)
    if not inside and resolve:
        raise outside(sub_path)
    if inside and there != path:
        path.mkdir(parents=True, exist_ok=True)
    return path


def outside(sub_path: str) -> VolumeMissing:
    return VolumeMissing(f"subPath {sub_path!r} leads out of its volume", next_step="use a path inside it")
