"""What goes into a layer that we make, and the one tar that stands for it on every machine.

Sorted by name, owned by root, at the beginning of time: the same files make the same digest. What changes
from run to run (compiled Python, caches) is left out.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from .manifests import LAYER_GZIP, Descriptor

LEFT_OUT = {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache"}


@dataclass(frozen=True)
class Item:
    """One file: from the disk, from memory, or a link."""

    source: Path | None = None
    content: bytes = b""
    link: str = ""
    mode: int = 0o644
    folder: bool = False


Items = dict[str, Item]
"""By path from the root of the image on, without the leading slash."""


def gathered(source: Path, at: str) -> Items:
    """All files below *source*, as they will lie at *at*."""
    return {f"{at.strip('/')}/{path.relative_to(source).as_posix()}": of_file(path) for path in files(source)}


def files(source: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if f not in LEFT_OUT)
        links = [f for f in folders if os.path.islink(os.path.join(parent, f))]
        for name in (*links, *sorted(names)):
            if not name.endswith((".pyc", ".pyo")):
                yield Path(parent, name)


def of_file(path: Path) -> Item:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(path)
        # A link that leads away from its folder would dangle in the image.
        return of_file(path.resolve()) if target.startswith("/") else Item(link=target)
    return Item(path, mode=0o755 if found.st_mode & 0o100 else 0o644)


def write_layer(items: Mapping[str, Item], to: BinaryIO) -> tuple[Descriptor, str]:
    """Write the compressed tar of *items*; gives its descriptor and the digest before compression."""
    packed, plain = Digesting(to), hashlib.sha256()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="", compresslevel=6) as zipped:
        below = Digesting(cast(BinaryIO, zipped))
        with tarfile.open(fileobj=below, mode="w|", format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
            for name, item in sorted(with_parents(items).items()):
                add(tar, name, item)
        plain = below.sha256
    return Descriptor(
        f"sha256:{packed.sha256.hexdigest()}", packed.size, LAYER_GZIP
    ), f"sha256:{plain.hexdigest()}"


def with_parents(items: Mapping[str, Item]) -> Items:
    parents = {str(p) for name in items for p in PurePosixPath(name).parents if str(p) != "."}
    return {**{p: Item(folder=True, mode=0o755) for p in parents}, **items}


def add(tar: tarfile.TarFile, name: str, item: Item) -> None:
    info = tarfile.TarInfo(name)
    info.mode = item.mode
    if item.folder:
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif item.link:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, item.link, 0o777
        tar.addfile(info)
    elif item.source is None:
        info.size = len(item.content)
        tar.addfile(info, io.BytesIO(item.content))
    else:
        with item.source.open("rb") as file:
            info.size = os.fstat(file.fileno()).st_size
            tar.addfile(info, file)


class Digesting:
    """Passes on what is written, with its digest and length."""

    def __init__(self, to: BinaryIO) -> None:
        self._to = to
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, piece: bytes) -> int:
        self.sha256.update(piece)
        self.size += len(piece)
        self._to.write(piece)
        return len(piece)

    def flush(self) -> None:
        self._to.flush()
