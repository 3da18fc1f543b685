"""The engine `local`: the samples as plain files in the volume, of which it is the only writer.

A file appears under its name only when it is whole and its content is what was read from the source. Files
that are there with the size and time of the source are checked, not copied; nothing is ever removed.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..errors import Failed
from ..sizes import size as shown
from . import index
from .engine import Contents, File, Report, Unfit, Usage
from .listing import OURS, Found, listing
from .work import Counted, copy, read, same, together

CHUNK = 1 << 20
COPIERS = 4


class LocalEngine:
    """One volume; the calls may come from any thread, one at a time."""

    def __init__(self, volume: Path) -> None:
        self.volume = volume

    def sync(self, source: str, report: Report) -> Contents:
        folder = folder_of(source)
        if folder.resolve() in self.volume.resolve().parents:
            raise Unfit(f"the volume lies in its own source {folder}", next_step="correct source.uri")
        files = listing(folder)
        if not files:
            raise Failed(f"the source {source} has no files", next_step="put the samples there")
        with disk_errors(self.volume):
            self.check_room(files)
            parts = self.volume / OURS / "parts"
            shutil.rmtree(parts, ignore_errors=True)
            parts.mkdir(parents=True)
            recorded = index.read(self.volume)
            known = {f.path: f for f in recorded.contents.files} if recorded else {}
            bring = partial(self.bring, parts=parts, known=known)
            contents = Contents(together(bring, files, report))
            # No file was waited for until it was on the disk: after a power cut the sums tell what is.
            index.write(self.volume, index.Index(source, contents))
            parts.rmdir()
        return contents

    def verify(self, report: Report) -> Contents:
        with disk_errors(self.volume):
            found = together(read, listing(self.volume), report)
        recorded = index.read(self.volume)
        if recorded is None:
            return Contents(found)
        compare(recorded.contents.files, found)
        return recorded.contents

    def usage(self) -> Usage:
        with disk_errors(self.volume):
            disk = shutil.disk_usage(self.volume)
        return Usage(disk.total, disk.used, disk.free)

    def check_room(self, files: list[Found]) -> None:
        need = sum(f.size for f in files if not same(self.volume / f.path, f))
        if need > (free := self.usage().available):
            raise Failed(
                f"the samples need {shown(need)} more, and the disk of the volume has {shown(free)} left",
                next_step="free space on that disk",
            )

    def bring(self, found: Found, count: Counted, *, parts: Path, known: dict[str, File]) -> File:
        """The file in the volume: as it is there, when it is there, else copied."""
        target = self.volume / found.path
        if same(target, found):
            file = read(found._replace(at=target), count)
            if known.get(found.path, file) == file:
                return file
            count(-file.size)
        return copy(found, target, parts, count)


def folder_of(source: str) -> Path:
    """The folder of a `file://` source. Raises `Unfit` for anything else, `Failed` when it is not there."""
    parts = urlsplit(source)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise Unfit(
            f"the engine local cannot read a source of the form {parts.scheme or 'path'}://…",
            next_step="give the source as file:///absolute/folder",
        )
    folder = Path(unquote(parts.path))
    if not folder.is_dir():
        raise Failed(f"the source folder {folder} does not exist", next_step="make it, or correct source.uri")
    return folder


def compare(recorded: Iterable[File], found: Iterable[File]) -> None:
    """Raises `Failed` for the first recorded file that is missing or different; others may lie beside."""
    there = {f.path: f for f in found}
    for file in recorded:
        if file.path not in there:
            raise Failed(f"{file.path} is missing in the volume")
        if there[file.path] != file:
            raise Failed(f"{file.path} is not what was synced: it has changed in the volume")


@contextmanager
def disk_errors(volume: Path) -> Iterator[None]:
    """Errors of the operating system, as sentences."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise Failed(
            f"{error.filename or volume}: {error.strerror}",
            next_step="free space on the disk of the volume" if full else "",
        ) from error
