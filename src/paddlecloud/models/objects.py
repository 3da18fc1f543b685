"""The object store: files by their sha256, and the manifests that name them.

A blob or a manifest appears under its name only when it is whole and on the disk, and never changes after
that: readers need no lock, a crash leaves nothing but a file in `tmp/`, and the same content is kept once.

    <root>/blobs/sha256/ab/<digest>     <root>/models/<model>/<version>.json     <root>/tmp/
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from ..errors import Failed, NotFound, WrongUse
from .manifest import named

CHUNK = 1 << 20
Moved = Callable[[int], None]
"""Called with the number of bytes that just went by."""


class Blob(NamedTuple):
    sha256: str
    size: int


class ObjectStore(Protocol):
    """What the hub needs of a store; each URI scheme is one implementation."""

    def put(self, source: Path, moved: Moved) -> Blob:
        """Keep the content of *source*; what is kept already is checked instead of copied."""

    def has(self, sha256: str) -> bool: ...

    def open(self, sha256: str) -> BinaryIO:
        """Read a blob. Raises `NotFound`."""

    def local(self, sha256: str) -> Path | None:
        """The blob as a file of this machine, where the store has such files."""

    def write_manifest(self, model: str, version: str, content: bytes) -> None:
        """Make a version visible. Raises `Failed` when it is there with another content."""

    def read_manifest(self, model: str, version: str) -> bytes:
        """Raises `NotFound`."""


def store_at(uri: str) -> ObjectStore:
    """The store of a URI. Raises `WrongUse` for a scheme that nobody serves."""
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path.startswith("/"):
        return FolderStore(Path(unquote(parts.path)))
    raise WrongUse(
        f"no model store can be opened at a URI of the form {parts.scheme or 'path'}://…",
        next_step="use file:///absolute/folder; other schemes are not available in this version",
    )


class FolderStore:
    """A store in a folder of a local or shared file system."""

    def __init__(self, root: Path) -> None:
        self.root = root

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

    def write_manifest(self, model: str, version: str, content: bytes) -> None:
        target = self.manifest(model, version)
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
                        raise Failed(
                            f"version {version} of model {model} is in the store with other files",
                            next_step="a version never changes: upload under a new name",
                        ) from error
                sync_folder(target.parent)
        except OSError as error:
            raise Failed(f"{target} cannot be written: {error.strerror}") from error

    def read_manifest(self, model: str, version: str) -> bytes:
        try:
            return self.manifest(model, version).read_bytes()
        except FileNotFoundError as error:
            raise NotFound(f"the store {self.root} has no version {version} of model {model}") from error

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
        folder = self.root / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        try:
            with open(name, "wb", opener=lambda *_: handle) as file:
                yield file
        finally:
            Path(name).unlink(missing_ok=True)

    def blob(self, sha256: str) -> Path:
        return self.root / "blobs" / "sha256" / sha256[:2] / sha256

    def manifest(self, model: str, version: str) -> Path:
        return self.root / "models" / named(model) / f"{named(version)}.json"


def digest(file: BinaryIO, into: BinaryIO | None = None, moved: Moved | None = None) -> Blob:
    """The sha256 and size of what is left in *file*, copied to *into* on the way."""
    sha256, size = hashlib.sha256(), 0
    while chunk := file.read(CHUNK):
        sha256.update(chunk)
        size += len(chunk)
        if into:
            into.write(chunk)
        if moved:
            moved(len(chunk))
    return Blob(sha256.hexdigest(), size)


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
