"""What a mounted file system holds and what of it is near: asked of the mount itself.

Looking at every file takes seconds for a hundred thousand; `Totals` does so only when the file system says
that something changed, and takes the sums it keeps of its folders for trees that are larger. The revision is
the digest of names, sizes and times: contents are the affair of the client, which has sums of its blocks.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from ...errors import Failed
from ..engine import File, revision
from .client import Client
from .tree import folders

BLOCK_HEAD = 4096
"""Bytes that the client counts for each cached block besides its content."""
MANY = 5_000
"""Files that are not counted one by one while somebody waits."""
FILES = re.compile(r"^\s*files: (\d+)", re.MULTILINE)
LENGTH = re.compile(r"^\s*length: .*\((\d+) Bytes\)|^\s*length: (\d+) Bytes?", re.MULTILINE)


@dataclass(frozen=True)
class Count:
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Noted:
    """What was found file by file, and the use of the file system it was found at."""

    count: Count
    used: tuple[int, int]
    revision: str = ""


def walked(data: Path) -> tuple[Count, str]:
    """The files below *data* one by one, and their revision."""
    found = list[File]()
    for folder, names in folders(data):
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            found.append(File(os.path.relpath(path, data), status.st_size, str(status.st_mtime_ns)))
    return Count(len(found), sum(file.size for file in found)), revision(found)


def count(client: Client, path: Path, *, exact: bool = True) -> Count:
    """The files below *path*."""
    said = client.run("info", "--recursive", *(["--strict"] if exact else []), str(path))
    files, length = FILES.search(said), LENGTH.search(said)
    if files is None or length is None:
        raise Failed(f"juicefs info said nothing of {path}: {said[-200:]}")
    return Count(int(files[1]), int(length[1] or length[2]))


def used(data: Path) -> tuple[int, int]:
    """Bytes and files in use, which change with every file that comes, goes or grows."""
    status = os.statvfs(data)
    return (status.f_blocks - status.f_bfree) * status.f_frsize, status.f_files - status.f_ffree


class Totals:
    """The files of a mounted file system; what was counted exactly is noted in a file."""

    def __init__(self, client: Client, data: Path, note: Path) -> None:
        self._client, self._data, self._note = client, data, note

    def exactly(self) -> Noted:
        """Look at every file, and note what was found."""
        found = self.found()
        if used(self._data) == found.used:
            write(self._note, found)
        return found

    def found(self) -> Noted:
        before = used(self._data)
        try:
            counted, told = walked(self._data)
        except OSError as error:
            raise Failed(
                f"the file system at {self._data} cannot be read: {error.strerror}",
                next_step="check that its metadata engine and its store answer",
            ) from error
        return Noted(counted, before, told)

    def quickly(self) -> Noted:
        """What was noted if nothing has changed since, else a count that does not take long."""
        now, noted = used(self._data), self.noted()
        if noted is not None and noted.used == now:
            return noted
        if now[1] <= MANY:
            return self.exactly()
        return Noted(count(self._client, self._data, exact=False), now)

    def noted(self) -> Noted | None:
        try:
            known = json.loads(self._note.read_bytes())
            place = known["used"][0], known["used"][1]
            return Noted(Count(**known["count"]), place, str(known.get("revision") or ""))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None


def write(path: Path, noted: Noted) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(asdict(noted)), encoding="utf-8")
    new.rename(path)


def cached(data: Path) -> Count:
    """Blocks in the cache of this mount, and the bytes of their content."""
    try:
        said = (data / ".stats").read_text(encoding="utf-8")
    except OSError as error:
        raise Failed(f"the mount at {data} does not answer: {error.strerror}") from error
    numbers = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
    blocks = int(float(numbers.get("juicefs_blockcache_blocks", 0)))
    size = int(float(numbers.get("juicefs_blockcache_bytes", 0)))
    return Count(blocks, max(0, size - blocks * BLOCK_HEAD))
