"""A layer's tar becomes a tree of files, and nothing outside that tree is touched.

Names are taken from the root of the tree on, links in the way are followed inside it only, and devices and
attributes that could reach out are left away with a note. Deletions get the form the overlay file system
reads (a 0:0 character device, an opaque folder) where that is permitted, and always stand in `layer.json`.
The tree appears under its final name after the digest of the whole tar was found right.
"""

from __future__ import annotations

import ctypes
import json
import os
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..sizes import size as shown
from . import compression
from .failures import Damaged, NoSpace
from .layout import Store, disk_failure, remove_tree
from .manifests import Descriptor
from .tarstream import TarStream
from .trees import Tree

Moved = Callable[[int], None]
"""Called with the number of bytes of files that were just written; may raise to stop the work."""


@dataclass(frozen=True)
class Limits:
    """What a layer may hold at most: a few kilobytes of gzip can stand for a full disk."""

    size: int = 100 << 30
    entries: int = 3_000_000


ORDINARY = Limits()


def unpack(
    store: Store, layer: Descriptor, diff_id: str, moved: Moved = lambda _: None, limits: Limits = ORDINARY
) -> Path:
    """The tree of *layer*, unpacked unless it is there; raises `Damaged`, `NoSpace` or `Unsupported`."""
    final = store.tree(diff_id)
    if final.is_dir():
        return final / "root"
    parent = store.root / "tmp"
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    work = Path(tempfile.mkdtemp(prefix="layer-", dir=parent))
    try:
        root = work / "root"
        root.mkdir(mode=0o755)
        tree = fill(root, store.blob(layer.digest), diff_id, moved, limits)
        (work / "layer.json").write_text(json.dumps({"diffID": diff_id, **asdict(tree.report)}, indent=1))
        sync_file_system(work)
        final.parent.mkdir(exist_ok=True, mode=0o700)
        work.chmod(0o755)
        try:
            os.rename(work, final)
        except OSError:
            if not final.is_dir():  # else: another was faster, with the same content
                raise
    except OSError as error:
        raise disk_failure(store.root, error) from error
    finally:
        remove_tree(work)
    return final / "root"


def fill(root: Path, blob: Path, diff_id: str, moved: Moved, limits: Limits) -> Tree:
    tree, what = Tree(root), f"layer {diff_id}"
    left = min(limits.size, room(root))
    with blob.open("rb") as packed:
        stream = TarStream(compression.plain(packed, what))
        try:
            with tarfile.open(fileobj=stream, mode="r:") as tar:  # type: ignore[call-overload]
                while (member := tar.next()) is not None:
                    # tarfile remembers every member; a layer may have a million.
                    tar.members.clear()
                    left -= member.size if member.isreg() else 0
                    if left < 0 or tree.report.entries >= limits.entries:
                        raise too_much(what, limits, root)
                    tree.add(member, tar)
                    moved(member.size if member.isreg() else 0)
            stream.finish()
        except tarfile.TarError as error:
            raise Damaged(f"{what} is no sound tar: {error}") from error
        except compression.BROKEN as error:
            raise Damaged(f"{what} is cut off or damaged: {error}") from error
    if stream.digest != diff_id:
        raise Damaged(
            f"{what} unpacks to {stream.digest}: the configuration of the image names another content"
        )
    tree.finish()
    return tree


def room(root: Path) -> int:
    found = os.statvfs(root)
    return found.f_bavail * found.f_frsize


def too_much(what: str, limits: Limits, root: Path) -> NoSpace:
    return NoSpace(
        f"{what} unpacks to more than fits: {shown(room(root))} are free, "
        f"{shown(limits.size)} and {limits.entries} files are the most a layer may have",
        next_step="`pdc image prune` makes room; a small layer that grows like this is an attack",
    )


def sync_file_system(path: Path) -> None:
    """All of a tree to the disk at once; a file at a time would take minutes."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(handle):
            raise OSError(ctypes.get_errno(), "syncfs failed")
    finally:
        os.close(handle)
