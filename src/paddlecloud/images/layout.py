"""The images of a home: an OCI image layout, and beside it one unpacked tree for every layer.

    oci-layout  index.json          which names stand for which manifests
    blobs/sha256/DIGEST             content, written elsewhere and renamed when whole and verified
    layers/DIGEST/{root,layer.json} a layer's files, by the digest of its tar; shared by all images
    parts/DIGEST                    a download that can be gone on with
    tmp/  locks/                    worth nothing when nobody works

Nothing under a final name is ever changed or incomplete. Whoever adds holds the lock `use` with others,
whoever removes holds it alone: what has just arrived cannot be swept away before a name leads to it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO

from ..sizes import size as shown
from . import manifests, names
from .failures import Damaged, ImageFailure, NoSpace, NotUsable
from .locks import held, only_one
from .manifests import Config, Descriptor, Manifest
from .names import Name

NAME = "org.opencontainers.image.ref.name"
SOURCE = "org.paddlepaddle.image.source"
IMPORTED, PULLED = "imported", "pulled"
CHUNK = 1 << 20
LAYOUT = {"imageLayoutVersion": "1.0.0"}


@dataclass(frozen=True)
class Entry:
    """A name and what it stands for."""

    name: str
    """In full; empty for content that lost its name to newer one."""
    manifest: Descriptor
    source: str = IMPORTED


class Store:
    def __init__(self, root: Path) -> None:
        self.root = root

    def entries(self) -> tuple[Entry, ...]:
        """Every name, sorted; raises `NotUsable` when the index cannot be read."""
        try:
            content = (self.root / "index.json").read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise NotUsable(f"{self.root}/index.json cannot be read: {error.strerror}") from error
        what = f"{self.root}/index.json"
        try:
            found = manifests.index_of(manifests.parse(content, what), what)
        except Damaged as error:
            raise NotUsable(
                error.message, next_step="remove the file; images are then imported anew"
            ) from error
        every = (Entry(d.annotations.get(NAME, ""), d, d.annotations.get(SOURCE, IMPORTED)) for d in found)
        return tuple(sorted(every, key=lambda e: (e.name, e.manifest.digest)))

    def find(self, name: Name) -> Entry | None:
        """What *name* stands for; a name with a digest is found under any tag of its repository."""
        for entry in self.entries():
            if name.digest:
                same = entry.name and names.parse(entry.name).place == name.place
                if same and entry.manifest.digest == name.digest:
                    return entry
            elif entry.name == str(name):
                return entry
        return None

    def tag(self, name: Name, manifest: Descriptor, source: str) -> None:
        """Let *name* stand for *manifest* from now on; the content must be here already."""
        new = Entry(str(name), manifest, source)
        with self.changing():
            self.write_index((*(e for e in self.entries() if e.name != new.name), new))

    def untag(self, gone: Collection[str]) -> None:
        without = set(gone)
        with self.changing():
            self.write_index(tuple(e for e in self.entries() if e.name not in without))

    def write_index(self, entries: tuple[Entry, ...]) -> None:
        listed = []
        for entry in sorted(entries, key=lambda e: (e.name, e.manifest.digest)):
            marks = {NAME: entry.name, SOURCE: entry.source} if entry.name else {SOURCE: entry.source}
            listed.append(replace(entry.manifest, annotations=marks).document())
        index = {"schemaVersion": 2, "mediaType": manifests.INDEX, "manifests": listed}
        self.replace(self.root / "oci-layout", manifests.encoded(LAYOUT))
        self.replace(self.root / "index.json", manifests.encoded(index))

    def replace(self, path: Path, content: bytes) -> None:
        with self.part() as part:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
            os.replace(part.name, path)
        sync_folder(path.parent)

    def manifest(self, digest: str) -> Manifest:
        what = f"manifest {digest}"
        return manifests.manifest_of(manifests.parse(self.read(digest, manifests.LARGEST), what), what)

    def config(self, manifest: Manifest) -> Config:
        what = f"configuration {manifest.config.digest}"
        content = self.read(manifest.config.digest, manifests.LARGEST_CONFIG)
        config = manifests.config_of(manifests.parse(content, what), what)
        if len(config.diff_ids) != len(manifest.layers):
            raise Damaged(
                f"{what} lists {len(config.diff_ids)} layers, its manifest {len(manifest.layers)}",
                next_step="make the image anew; the two must agree",
            )
        return config

    def blob(self, digest: str) -> Path:
        return self.root / "blobs" / "sha256" / hex_of(digest)

    def has(self, digest: str) -> bool:
        return self.blob(digest).is_file()

    def read(self, digest: str, limit: int) -> bytes:
        """A small blob, verified; raises `NotUsable` when it is not here, `Damaged` when it is not itself."""
        path = self.blob(digest)
        try:
            with path.open("rb") as file:
                content = file.read(limit + 1)
        except OSError as error:
            raise NotUsable(
                f"{path} cannot be read: {error.strerror}", next_step="pull the image again"
            ) from error
        if len(content) > limit or manifests.digest_of(content) != digest:
            raise Damaged(
                f"{path} has another content than its name says", next_step="remove it and pull again"
            )
        return content

    def put(self, content: bytes) -> str:
        digest = manifests.digest_of(content)
        if not self.has(digest):
            with self.part() as part:
                part.write(content)
                self.settle(part, digest)
        return digest

    def take(self, source: IO[bytes], expected: Descriptor) -> None:
        """Keep what *source* holds; raises `Damaged` unless it is what *expected* says."""
        with self.part() as part:
            seen = copied(source, part, expected.size)
            if seen != expected.digest:
                raise Damaged(f"content of {expected.digest} has the digest {seen}: the image is damaged")
            self.settle(part, expected.digest)

    def adopt(self, path: Path, expected: Descriptor) -> None:
        """Turn a finished download at *path* into the blob it should be; a wrong one is thrown away."""
        with path.open("rb") as file:
            seen = hashlib.file_digest(file, "sha256").hexdigest()
        if seen != hex_of(expected.digest):
            path.unlink()
            raise Damaged(f"the registry sent sha256:{seen} where {expected.digest} was asked for")
        with path.open("r+b") as file:
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o444)
        target = self.blob(expected.digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, target)
        sync_folder(target.parent)

    def settle(self, part: BinaryIO, digest: str) -> None:
        part.flush()
        os.fchmod(part.fileno(), 0o444)
        os.fsync(part.fileno())
        target = self.blob(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part.name, target)
        sync_folder(target.parent)

    @contextlib.contextmanager
    def part(self) -> Iterator[BinaryIO]:
        """A new file beside the final places; gone afterwards unless it was renamed."""
        folder = self.root / "tmp"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.writing():
            handle, name = tempfile.mkstemp(dir=folder)
            try:
                with open(name, "wb", opener=lambda *_: handle) as file:
                    yield file
            finally:
                Path(name).unlink(missing_ok=True)

    def unfinished(self, digest: str) -> Path:
        """Where a download of *digest* grows."""
        path = self.root / "parts" / hex_of(digest)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    def tree(self, diff_id: str) -> Path:
        """The folder of an unpacked layer; its files are in `root`."""
        return self.root / "layers" / hex_of(diff_id)

    def lock(self, name: str) -> Path:
        return self.root / "locks" / name

    def changing(self) -> contextlib.AbstractContextManager[None]:
        return held(self.lock("index"))

    def adding(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Held by a pull; the wait for a sweep can be cancelled."""
        return only_one(self.lock("use"), shared=True)

    def importing(self) -> contextlib.AbstractContextManager[None]:
        """Held by whoever brings content that no name leads to yet."""
        return held(self.lock("use"), shared=True)

    def removing(self) -> contextlib.AbstractContextManager[None]:
        """Held by whoever takes content away; raises `TimedOut` while somebody adds."""
        return held(self.lock("use"), patience=2.0)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Errors of the disk become sentences."""
        try:
            yield
        except OSError as error:
            # A damaged stream that was read meanwhile is one too, but has no number and its own sentence.
            if error.errno is None:
                raise
            raise disk_failure(self.root, error) from error


def disk_failure(root: Path, error: OSError) -> ImageFailure:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shown(shutil.disk_usage(root).free) if root.exists() else "nothing"
        return NoSpace(
            f"the disk of {root} is full ({free} free): {error.strerror}",
            next_step="`pdc image prune` removes images that no pod uses",
        )
    return NotUsable(f"{error.filename or root} cannot be written: {error.strerror or error}")


def copied(source: IO[bytes], to: BinaryIO, expected: int) -> str:
    """The digest of what was copied; one byte more than *expected* ends the copy."""
    sha256, count = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        count += len(chunk)
        if count > expected:
            raise Damaged(f"content has more than the {expected} bytes its descriptor says")
        sha256.update(chunk)
        to.write(chunk)
    if count < expected:
        raise Damaged(f"content has {count} bytes, its descriptor says {expected}: it was cut off")
    return f"sha256:{sha256.hexdigest()}"


def hex_of(digest: str) -> str:
    if not names.DIGEST.fullmatch(digest):
        raise Damaged(f"{digest!r} is no sha256 digest")
    return digest.removeprefix("sha256:")


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_tree(path: Path) -> None:
    """Remove a layer's files, also those whose folders forbid it to an ordinary user."""
    if not path.exists():
        return
    for parent, folders, _ in os.walk(path):
        for folder in folders:
            below = os.path.join(parent, folder)
            if not os.path.islink(below):
                os.chmod(below, 0o700)
    shutil.rmtree(path)


def note(path: Path) -> dict[str, object]:
    """What `layer.json` says of an unpacked layer."""
    found = json.loads((path / "layer.json").read_text())
    assert isinstance(found, dict)
    return found
