"""Images that come as files: OCI archives and folders, and what `docker save` writes.

An archive's own names are looked up, never written to: only verified content reaches the store. Everything is
read and checked before the first name appears.
"""

from __future__ import annotations

import contextlib
import gzip
import posixpath
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from ..errors import WrongUse
from . import compression, manifests, names
from .failures import Damaged, ImageFailure, NoSpace
from .layers import room
from .layout import IMPORTED, NAME, Store, copied
from .manifests import Descriptor
from .names import Name

CONTAINERD_NAME = "io.containerd.image.name"
MOST_INDEXES = 8
MOST_MEMBERS = 100_000
SPARED = 64 << 20
"""Bytes of the disk that an unpacked archive leaves free."""
Moved = Callable[[int], None]


@dataclass(frozen=True)
class Imported:
    name: str
    digest: str


class Container(Protocol):
    """A folder or a tar, as files by name."""

    def has(self, name: str) -> bool: ...

    def open(self, name: str) -> IO[bytes]:
        """Raises `Damaged` when there is no such file."""


def load(store: Store, path: Path, name: Name | None = None, moved: Moved = lambda _: None) -> list[Imported]:
    """Take the images at *path* into the store, under *name* where given.

    Raises `WrongUse` for what is no image at all, `Damaged` for a broken one.
    """
    with store.importing(), container(store, path) as files:
        if files.has("index.json"):
            found = oci_images(store, files, path, moved)
        elif files.has("manifest.json"):
            found = docker_images(store, files, moved)
        else:
            raise no_image(path, "it has neither index.json (OCI) nor manifest.json (docker save)")
        chosen = named(found, name, path)
        for full, manifest in chosen:
            store.config(store.manifest(manifest.digest))
            store.tag(full, manifest, IMPORTED)
    return [Imported(str(full), manifest.digest) for full, manifest in chosen]


def named(
    found: list[tuple[list[str], Descriptor]], name: Name | None, path: Path
) -> list[tuple[Name, Descriptor]]:
    if name is not None:
        if len({manifest.digest for _, manifest in found}) != 1:
            raise WrongUse(f"{path} holds {len(found)} images; one name cannot stand for all of them")
        return [(name, found[0][1])]
    chosen = [(full_name(text, path), manifest) for texts, manifest in found for text in texts]
    if not chosen:
        raise WrongUse(
            f"the image in {path} has no name",
            next_step=f"give it one: pdc image import {path} --name NAME:TAG",
        )
    return chosen


def full_name(text: str, path: Path) -> Name:
    # Many tools write the tag alone; the file's name is then the best name there is.
    if names.TAG.fullmatch(text) and not {"/", ":"} & set(text):
        stem = path.name.partition(".")[0].lower()
        with contextlib.suppress(ImageFailure):
            return names.parse(f"{stem}:{text}")
    return names.parse(text)


def oci_images(
    store: Store, files: Container, path: Path, moved: Moved
) -> list[tuple[list[str], Descriptor]]:
    what = f"index.json of {path}"
    top = manifests.index_of(manifests.parse(small(files, "index.json"), what), what)
    if not top:
        raise no_image(path, "its index.json lists no image")
    found = []
    for entry in top:
        manifest = image_below(files, entry, str(path))
        content = verified(files, manifest)
        for blob in manifests.manifest_of(manifests.parse(content, what), str(path)).blobs():
            if not store.has(blob.digest):
                with files.open(blob_name(blob)) as source:
                    store.take(source, blob)
            moved(blob.size)
        store.put(content)
        names_of = (entry.annotations.get(CONTAINERD_NAME), entry.annotations.get(NAME))
        found.append(([next(n for n in names_of if n)] if any(names_of) else [], manifest))
    return found


def image_below(files: Container, entry: Descriptor, what: str) -> Descriptor:
    """The manifest for this machine, through at most a few indexes."""
    for _ in range(MOST_INDEXES):
        document = manifests.parse(verified(files, entry), what)
        if not manifests.is_index(document, entry.media_type):
            kind = entry.media_type or str(document.get("mediaType") or manifests.MANIFEST)
            return Descriptor(entry.digest, entry.size, kind)
        entry = manifests.for_machine(manifests.index_of(document, what), what)
    raise Damaged(f"{what}: indexes in indexes in indexes")


def verified(files: Container, entry: Descriptor) -> bytes:
    content = small(files, blob_name(entry))
    if manifests.digest_of(content) != entry.digest:
        raise Damaged(f"{entry.digest} in the archive has the digest {manifests.digest_of(content)}")
    return content


def docker_images(store: Store, files: Container, moved: Moved) -> list[tuple[list[str], Descriptor]]:
    content = small(files, "manifest.json")
    listed = manifests.parse(b'{"images":' + content + b"}", "manifest.json")["images"]
    if not isinstance(listed, list):
        raise Damaged("manifest.json is no list of images")
    return [docker_image(store, files, entry, moved) for entry in listed]


def docker_image(store: Store, files: Container, entry: object, moved: Moved) -> tuple[list[str], Descriptor]:
    """An image of `docker save`, given the OCI manifest it lacks; the layers stay as they are."""
    if not isinstance(entry, dict) or not isinstance(entry.get("Config"), str):
        raise Damaged("manifest.json has an image without `Config`")
    config = small(files, entry["Config"], manifests.LARGEST_CONFIG)
    layers = []
    for name in manifests.texts(entry.get("Layers"), "Layers", "manifest.json"):
        layers.append(keep_layer(store, files, name))
        moved(layers[-1].size)
    document = {
        "schemaVersion": 2,
        "mediaType": manifests.MANIFEST,
        "config": Descriptor(store.put(config), len(config), manifests.CONFIG).document(),
        "layers": [layer.document() for layer in layers],
    }
    text = manifests.encoded(document)
    tags = list(manifests.texts(entry.get("RepoTags"), "RepoTags", "manifest.json"))
    return tags, Descriptor(store.put(text), len(text), manifests.MANIFEST)


def keep_layer(store: Store, files: Container, name: str) -> Descriptor:
    with files.open(name) as source, store.part() as part:
        start = source.read(len(compression.GZIP))
        source.seek(0)
        # Its digest is only known afterwards; the configuration vouches for what it unpacks to.
        digest = copied(source, part, length(source))
        size = part.tell()
        store.settle(part, digest)
    return Descriptor(digest, size, manifests.LAYER_GZIP if start == compression.GZIP else manifests.LAYER)


def length(source: IO[bytes]) -> int:
    end = source.seek(0, 2)
    source.seek(0)
    return end


def small(files: Container, name: str, limit: int = manifests.LARGEST) -> bytes:
    with files.open(name) as source:
        content = source.read(limit + 1)
    if len(content) > limit:
        raise Damaged(f"{name} in the archive is larger than {limit} bytes")
    return content


def blob_name(entry: Descriptor) -> str:
    return "blobs/" + entry.digest.replace(":", "/")


@contextlib.contextmanager
def container(store: Store, path: Path) -> Iterator[Container]:
    if path.is_dir():
        yield Folder(path)
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}") from error
    try:
        with file:
            if not file.read(1):
                raise no_image(path, "it is empty")
            file.seek(0)
            unpacked = compression.plain(file, str(path))
            if unpacked is file:
                yield Archive(path, file)
                return
            # Names are looked up in any order, which a compressed stream cannot do.
            with store.part() as part:
                spread(unpacked, part, path)
                with open(part.name, "rb") as plain:
                    yield Archive(path, plain)
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise Damaged(f"{path} is cut off or damaged: {error}") from error


def spread(packed: IO[bytes], to: BinaryIO, path: Path) -> None:
    """Decompress, but never into the last of the disk."""
    left = room(Path(to.name).parent) - SPARED
    while piece := packed.read(1 << 20):
        left -= len(piece)
        if left < 0:
            raise NoSpace(f"{path} unpacks to more than the disk has room for")
        to.write(piece)
    to.flush()


class Folder:
    def __init__(self, path: Path) -> None:
        self._path = path.resolve()

    def has(self, name: str) -> bool:
        return self._file(name).is_file()

    def open(self, name: str) -> IO[bytes]:
        path = self._file(name)
        # A link could hand any file of this user to whoever made the folder.
        if not path.resolve().is_relative_to(self._path) or not path.is_file():
            raise Damaged(f"{self._path} has no {name}: it is not complete")
        return path.open("rb")

    def _file(self, name: str) -> Path:
        return self._path / posixpath.normpath(f"/{name}")[1:]


class Archive:
    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._members: dict[str, tarfile.TarInfo] = {}
        try:
            self._tar = tarfile.TarFile(fileobj=file)
            for member in self._tar:
                self._members[posixpath.normpath(f"/{member.name}")] = member
                if len(self._members) > MOST_MEMBERS:
                    raise Damaged(f"{path} has more than {MOST_MEMBERS} files: it is no archive of an image")
        except (tarfile.TarError, OverflowError, ValueError) as error:
            raise no_image(path, f"it is no sound tar ({error})") from error

    def has(self, name: str) -> bool:
        return posixpath.normpath(f"/{name}") in self._members

    def open(self, name: str) -> IO[bytes]:
        path = posixpath.normpath(f"/{name}")
        for _ in range(MOST_INDEXES):
            member = self._members.get(path)
            if member is None or not (member.issym() or member.islnk()):
                break
            # Old versions of docker save a layer that occurs twice as a link to the first.
            beside = posixpath.dirname(path) if member.issym() else "/"
            path = posixpath.normpath(posixpath.join(beside, member.linkname))
        if member is None or not member.isreg():
            raise Damaged(f"{self._path} has no {name}: it is not complete")
        try:
            source = self._tar.extractfile(member)
        except tarfile.TarError as error:
            raise Damaged(f"{self._path} is damaged: {error}") from error
        assert source is not None
        return source


def no_image(path: Path, why: str) -> WrongUse:
    return WrongUse(
        f"{path} is no image: {why}",
        next_step="give an OCI archive or folder, or what `docker save` or `skopeo copy` wrote",
    )
