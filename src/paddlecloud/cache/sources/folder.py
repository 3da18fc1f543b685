"""A folder as a source: `file:///absolute/folder`, `pvc://CLAIM/folder`, or a single file.

Links are followed to regular files inside the folder only: data must not be drawn in from elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ...errors import Failed
from ..engine import Unfit
from .source import CHUNK, Address, Entry

CLAIM = "SOURCE_CLAIM"
"""The variable that says where a claim that is the source is mounted."""


def folder(address: Address) -> Folder:
    """The folder of a `file://` address. Raises `Unfit` for another address, `Failed` when it is missing."""
    parts = urlsplit(address.uri)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise Unfit(
            f"{address.shown} names no folder", next_step="give the source as file:///absolute/folder"
        )
    root = Path(unquote(parts.path))
    if not root.exists():
        raise Failed(f"the source folder {root} does not exist", next_step="make it, or correct source.uri")
    return Folder(root.resolve())


def claimed(address: Address, environ: Mapping[str, str]) -> Folder:
    """The folder of `pvc://CLAIM/folder`, below where the claim is mounted.

    Raises `Unfit` when no claim is mounted or the address leads out of it, `Failed` when there is no folder.
    """
    if not environ.get(CLAIM):
        raise Unfit(f"{address.shown}: no claim is mounted here", next_step="make a SampleSet of that source")
    whole = Path(environ[CLAIM]).resolve()
    root = (whole / unquote(urlsplit(address.uri).path).strip("/")).resolve()
    if not root.is_relative_to(whole):
        raise Unfit(f"{address.shown} leads out of the claim", next_step="correct source.uri")
    if not root.exists():
        raise Failed(
            f"the claim has no folder {root.relative_to(whole)}", next_step="make it, or correct source.uri"
        )
    return Folder(root)


class Folder:
    def __init__(self, root: Path, *, without: Path | None = None) -> None:
        self.root = root
        self._without = without
        """A folder below that is not part of the data."""

    def entries(self) -> Iterator[Entry]:
        if self.root.is_file():
            yield self._entry(self.root.name, self.root)
            return
        for parent, folders, files in self._walk():
            for name in folders:
                if (parent / name).is_symlink():
                    raise Unfit(f"{parent / name} is a link to a folder", next_step="copy the folder instead")
            for name in files:
                at = parent / name
                yield self._entry(at.relative_to(self.root).as_posix(), at)

    def folders(self) -> Iterator[str]:
        for parent, folders, files in self._walk():
            if not folders and not files and parent != self.root:
                yield parent.relative_to(self.root).as_posix()

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        at = self._at(entry)
        try:
            with at.open("rb", buffering=0) as file:
                while chunk := file.read(CHUNK):
                    yield chunk
            status = at.stat()
        except OSError as error:
            raise Failed(f"{at} cannot be read: {error.strerror}") from error
        if (status.st_size, status.st_mtime_ns) != (entry.size, entry.time_ns):
            raise Failed(f"{entry.path} changed at the source while it was copied")

    def delete(self, entry: Entry) -> None:
        try:
            self._at(entry).unlink(missing_ok=True)
        except OSError as error:
            raise Failed(f"{entry.path} cannot be removed from the source: {error.strerror}") from error

    def _at(self, entry: Entry) -> Path:
        return self.root if self.root.is_file() else self.root / entry.path

    def _walk(self) -> Iterator[tuple[Path, list[str], list[str]]]:
        for parent, folders, files in os.walk(self.root, onerror=unreadable):
            at = Path(parent)
            if self._without is not None and at == self._without.parent:
                folders[:] = [name for name in folders if name != self._without.name]
            folders.sort()
            yield at, folders, files

    def _entry(self, path: str, at: Path) -> Entry:
        try:
            status = at.lstat()
            if stat.S_ISLNK(status.st_mode):
                target = at.resolve(strict=True)
                if not target.is_relative_to(self.root):
                    raise Unfit(
                        f"{at} is a link that leads out of {self.root}", next_step="copy the file instead"
                    )
                status = target.stat()
        except OSError as error:
            raise Failed(f"{at} cannot be read: {error.strerror}") from error
        if not stat.S_ISREG(status.st_mode):
            raise Unfit(f"{at} is no regular file", next_step="remove it from the source")
        return Entry(path, status.st_size, status.st_mtime_ns, mode=stat.S_IMODE(status.st_mode))


def unreadable(error: OSError) -> None:
    raise Failed(f"{error.filename} cannot be read: {error.strerror}") from error
