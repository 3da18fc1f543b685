"""A path inside a volume that stays inside, whatever links the volume holds.

Files that the cluster fills are links by themselves: they lead to a version inside the volume, and that is
allowed. Everything is resolved first and compared afterwards, and missing folders are made only below what
was found to be inside. Sandboxes look the path up once more with the kernel's own check.
"""

from __future__ import annotations

from pathlib import Path

from ..obstacles import ConfigMissing

INSIDE = "use a path inside the volume"


def below(volume: Path, sub_path: str, *, resolve: bool = True) -> Path:
    """*sub_path* of *volume*, made as folders where it is missing; raises for one that leads out.

    Without *resolve* links are left to whoever opens the path; nothing is made behind one that leads out.
    """
    if not checked(sub_path):
        return volume
    path, root = volume / sub_path, volume.resolve()
    there = path
    while not there.exists() and not there.is_symlink():
        there = there.parent
    inside = there.resolve().is_relative_to(root)
    if not inside and resolve:
        raise ConfigMissing(
            f"failed to prepare subPath {sub_path!r}: it leads out of its volume", next_step=INSIDE
        )
    if inside and there != path:
        path.mkdir(parents=True, exist_ok=True)
    return path


def checked(sub_path: str) -> str:
    """*sub_path* as it is; raises `ConfigMissing` in a kubelet's words for one that cannot be inside."""
    if sub_path.startswith("/"):
        raise ConfigMissing(f"error SubPath `{sub_path}` must not be an absolute path", next_step=INSIDE)
    if ".." in sub_path.split("/"):
        why = "must not contain '..'"
        raise ConfigMissing(f"unable to provision SubPath `{sub_path}`: {why}", next_step=INSIDE)
    return sub_path
