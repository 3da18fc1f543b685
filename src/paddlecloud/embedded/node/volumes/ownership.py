"""Volumes that belong to a group of the pod (`fsGroup`), where the node may give things away.

Links are never followed: what a container left in its volume leads nowhere.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ....api.core import Pod

READ, READ_WRITE, ENTER = 0o440, 0o660, 0o110 | stat.S_ISGID


def group_of(pod: Pod) -> int | None:
    """The group that the volumes of *pod* are given to; None: they stay as they are."""
    said = (pod.spec.get("securityContext") or {}).get("fsGroup")
    return int(said) if said is not None and os.geteuid() == 0 else None


def give(folder: Path, group: int | None, read_only: bool = False) -> None:
    """Everything in *folder* belongs to *group* and can be used by it; what already does is left alone."""
    if group is None or belongs(folder, group):
        return
    mask = READ if read_only else READ_WRITE
    for place, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            give_one(os.path.join(place, name), group, mask)
    # Last: a folder that has the group has it inside too.
    give_one(str(folder), group, mask)


def belongs(folder: Path, group: int) -> bool:
    found = folder.stat()
    return found.st_gid == group and bool(found.st_mode & stat.S_ISGID)


def give_one(path: str, group: int, mask: int) -> None:
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return
    os.chown(path, -1, group, follow_symlinks=False)
    extra = mask | (ENTER if stat.S_ISDIR(found.st_mode) else 0)
    os.chmod(path, stat.S_IMODE(found.st_mode) | extra)
