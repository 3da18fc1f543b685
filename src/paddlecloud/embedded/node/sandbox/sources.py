"""What is mounted into a container, opened on the machine's side and put in place on the container's.

    {"target": "/data", "source": "/folder", "readOnly": false, "subPath": "a/b"}     a folder or a file
    {"target": "/code", "source": "/folder", "laid": "copies/0"}     writes go to that folder of the attempt
    {"target": "/fast", "size": 1048576}                             memory

A `subPath` is looked up inside its volume: neither `..` nor a link leads out of it. Only the standard
library.
"""

from __future__ import annotations

import os
import stat

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Source:
    """One mount; *tree* is its detached mount, or None for memory."""

    def __init__(self, target: str, tree: int | None, folder: bool, size: int = 0) -> None:
        self.target, self.folder = target, folder
        self._tree, self._size = tree, size

    def put(self) -> None:
        """Inside the container's root: mount it, making its mount point where that is missing."""
        made_point(self.target, self.folder)
        if self._tree is None:
            options = "mode=1777" + (f",size={self._size}" if self._size else "")
            kernel.mount("tmpfs", self.target, "tmpfs", kernel.NOSUID | kernel.NODEV, options)
            return
        kernel.attach(self._tree, self.target)
        os.close(self._tree)


def opened(mounts: list[dict[str, Any]]) -> list[Source]:
    return [opened_one(mount) for mount in mounts]


def opened_one(mount: dict[str, Any]) -> Source:
    target = str(mount["target"])
    if "source" not in mount:
        return Source(target, None, True, int(mount.get("size") or 0))
    if mount.get("laid"):
        return Source(target, laid(str(mount["source"]), str(mount["laid"])), True)
    fd = os.open(mount["source"], os.O_PATH | os.O_CLOEXEC)
    if mount.get("subPath"):
        outer, fd = fd, sub_path(fd, str(mount["subPath"]))
        os.close(outer)
    source = of_descriptor(fd, target, bool(mount.get("readOnly")))
    os.close(fd)
    return source


def of_descriptor(fd: int, target: str, read_only: bool) -> Source:
    tree = kernel.clone_tree(fd)
    if read_only:
        kernel.make_read_only(tree)
    return Source(target, tree, stat.S_ISDIR(os.fstat(fd).st_mode))


def laid(source: str, place: str) -> int:
    """The folder *source* with a layer of our own over it: free to change, and unchanged."""
    upper, work, merged = (os.path.join(place, name) for name in ("upper", "work", "merged"))
    for folder in (upper, work, merged):
        os.makedirs(folder, exist_ok=True)
    os.chmod(upper, 0o755)
    lower = os.open(source, os.O_PATH | os.O_CLOEXEC)
    options = f"lowerdir=/proc/self/fd/{lower},upperdir={upper},workdir={work}"
    kernel.mount("overlay", merged, "overlay", 0, options)
    os.close(lower)
    fd = os.open(merged, os.O_PATH | os.O_CLOEXEC)
    tree = kernel.clone_tree(fd, recursive=False)
    os.close(fd)
    kernel.unmount(merged)
    return tree


def sub_path(volume: int, path: str) -> int:
    """*path* inside the volume, made as folders where it is missing."""
    try:
        return kernel.open_beneath(volume, path)
    except FileNotFoundError:
        made = ""
        for part in [part for part in path.split("/") if part]:
            parent = kernel.open_beneath(volume, made or ".")
            made = os.path.join(made, part)
            try:
                os.mkdir(part, 0o755, dir_fd=parent)
            except FileExistsError:
                pass
            finally:
                os.close(parent)
        return kernel.open_beneath(volume, path)


def made_point(path: str, folder: bool) -> None:
    if os.path.lexists(path):
        return
    if folder:
        os.makedirs(path)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
