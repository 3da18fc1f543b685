"""A store in a folder of a local or shared file system.

Whatever gets a name there is whole and on the disk before; a crash leaves nothing but a file in `tmp/`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from ..errors import Conflict, Failed, NotFound
from .keys import PARTS, blob_key
from .objects import Blob, Item, Moved, digest


class FolderStore:
    def __init__(self, root: Path) -> None:
        self.root = root

    def __str__(self) -> str:
        return str(self.root)

    def put(self, source: Path, moved: Moved) -> Blob:
        try:
            with source.open("rb") as file:
                seen = digest(file)
            if self.has(seen.sha256) and self.intact(seen.sha256):
                moved(seen.size)
                return seen
            with source.open("rb") as file:
                self.keep(file, seen, moved)
        except OSError as error:
            raise Failed(f"{source} cannot be kept in {self.root}: {error.strerror}") from error
        return seen

    def has(self, sha256: str) -> bool:
        return self.blob(sha256).is_file()

    def open(self, sha256: str) -> BinaryIO:
        try:
            return self.blob(sha256).open("rb")
        except FileNotFoundError as error:
            raise NotFound(f"the store {self.root} has no file {sha256}") from error

    def local(self, sha256: str) -> Path | None:
        return self.blob(sha256)

    def write(self, key: str, content: bytes) -> None:
        target = self.root / key
        try:
            with self.part() as part:
                part.write(content)
                settle(part)
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    # Unlike a rename, a link fails when somebody was first.
                    os.link(part.name, target)
                except FileExistsError as error:
                    if target.read_bytes() != content:
                        raise Conflict(f"{key} is in the store {self.root} with other content") from error
                sync_folder(target.parent)
        except OSError as error:
            raise Failed(f"{target} cannot be written: {error.strerror}") from error

    def read(self, key: str) -> bytes:
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError as error:
            raise NotFound(f"the store {self.root} has no {key}") from error
        except OSError as error:
            raise Failed(f"{self.root / key} cannot be read: {error.strerror}") from error

    def items(self, prefix: str) -> Iterator[Item]:
        for parent, folders, files in os.walk(self.root / prefix):
            folders.sort()
            for path in (Path(parent) / name for name in sorted(files)):
                try:
                    seen = path.stat()
                except FileNotFoundError:
                    continue
                changed = datetime.fromtimestamp(seen.st_mtime, UTC)
                yield Item(path.relative_to(self.root).as_posix(), seen.st_size, changed)

    def remove(self, key: str) -> None:
        try:
            (self.root / key).unlink(missing_ok=True)
        except OSError as error:
            raise Failed(f"{self.root / key} cannot be removed: {error.strerror}") from error

    def keep(self, file: BinaryIO, expected: Blob, moved: Moved) -> None:
        target = self.blob(expected.sha256)
        with self.part() as part:
            copied = digest(file, into=part, moved=moved)
            if copied != expected:
                raise Failed("a file changed during the upload", next_step="upload when nobody writes to it")
            settle(part)
            target.parent.mkdir(parents=True, exist_ok=True)
            # A rename, so that a damaged blob of that name is replaced.
            os.rename(part.name, target)
            sync_folder(target.parent)

    def intact(self, sha256: str) -> bool:
        with self.open(sha256) as file:
            return digest(file).sha256 == sha256

    @contextmanager
    def part(self) -> Iterator[BinaryIO]:
        """A new file on the same file system; it is gone afterwards unless it was renamed."""
        folder = self.root / PARTS
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        try:
            with open(name, "wb", opener=lambda *_: handle) as file:
                yield file
        finally:
            Path(name).unlink(missing_ok=True)

    def blob(self, sha256: str) -> Path:
        return self.root / blob_key(sha256)


def settle(file: BinaryIO) -> None:
    """Bring a written file to the disk, closed to further writing."""
    file.flush()
    os.fchmod(file.fileno(), 0o444)
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
