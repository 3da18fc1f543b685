"""Images made by hand, byte by byte, sound or broken as a test wants them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddlecloud.images.layout import Store
from paddlecloud.images.manifests import CONFIG, INDEX, LAYER, LAYER_GZIP, MANIFEST, Descriptor

Member = tuple[tarfile.TarInfo, bytes]


def file(name: str, content: bytes = b"", mode: int = 0o644, **more: Any) -> Member:
    return member(name, tarfile.REGTYPE, mode=mode, size=len(content), **more), content


def folder(name: str, mode: int = 0o755, **more: Any) -> Member:
    return member(name, tarfile.DIRTYPE, mode=mode, **more), b""


def link(name: str, to: str) -> Member:
    return member(name, tarfile.SYMTYPE, linkname=to), b""


def hardlink(name: str, to: str) -> Member:
    return member(name, tarfile.LNKTYPE, linkname=to), b""


def device(name: str) -> Member:
    return member(name, tarfile.CHRTYPE, devmajor=1, devminor=3), b""


def fifo(name: str) -> Member:
    return member(name, tarfile.FIFOTYPE), b""


def member(name: str, kind: bytes, **more: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.mtime = 1_000_000
    for key, value in more.items():
        setattr(info, key, value)
    return info


def tar(members: Iterable[Member]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def sha(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


@dataclass
class Made:
    """An image as blobs by digest, and the descriptor that leads to them."""

    blobs: dict[str, bytes]
    manifest: Descriptor
    layers: list[Descriptor]
    diff_ids: list[str]
    config: str = ""

    def document(self) -> dict[str, Any]:
        found = json.loads(self.blobs[self.manifest.digest])
        assert isinstance(found, dict)
        return found


@dataclass
class Recipe:
    layers: Sequence[bytes] = ()
    """Tars."""
    run: Mapping[str, Any] = field(default_factory=dict)
    packed: bool = True


def image(*layers: Iterable[Member], run: Mapping[str, Any] | None = None, packed: bool = True) -> Made:
    return cook(Recipe([tar(members) for members in layers], run or {}, packed))


def cook(recipe: Recipe) -> Made:
    blobs: dict[str, bytes] = {}

    def keep(content: bytes, kind: str) -> Descriptor:
        blobs[sha(content)] = content
        return Descriptor(sha(content), len(content), kind)

    layers = [
        keep(
            gzip.compress(content, mtime=0) if recipe.packed else content,
            LAYER_GZIP if recipe.packed else LAYER,
        )
        for content in recipe.layers
    ]
    diff_ids = [sha(content) for content in recipe.layers]
    config = keep(
        json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": dict(recipe.run),
                "rootfs": {"type": "layers", "diff_ids": diff_ids},
            }
        ).encode(),
        CONFIG,
    )
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.document(),
        "layers": [layer.document() for layer in layers],
    }
    manifest = keep(json.dumps(document).encode(), MANIFEST)
    return Made(blobs, manifest, layers, diff_ids, config.digest)


def put(store: Store, made: Made) -> None:
    """Lay an image into a store without any of the ways that check it."""
    for digest, content in made.blobs.items():
        store.blob(digest).parent.mkdir(parents=True, exist_ok=True)
        store.blob(digest).write_bytes(content)


def oci_files(made: Made, name: str = "", top: Mapping[str, Any] | None = None) -> dict[str, bytes]:
    entry = made.manifest.document()
    if name:
        entry["annotations"] = {"org.opencontainers.image.ref.name": name}
    index = top or {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}
    files = {"blobs/" + digest.replace(":", "/"): content for digest, content in made.blobs.items()}
    return {
        **files,
        "index.json": json.dumps(index).encode(),
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
    }


def docker_files(made: Made, *tags: str) -> dict[str, bytes]:
    """As `docker save` wrote them: plain layers in folders, the configuration by its digest."""
    config = made.config.removeprefix("sha256:") + ".json"
    files = {config: made.blobs[made.config]}
    paths = []
    for number, layer in enumerate(made.layers):
        content = made.blobs[layer.digest]
        paths.append(f"{number}/layer.tar")
        files[paths[-1]] = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    listed = [{"Config": config, "RepoTags": list(tags), "Layers": paths}]
    return {**files, "manifest.json": json.dumps(listed).encode()}


def archive(path: Path, files: Mapping[str, bytes], *, packed: bool = False) -> Path:
    content = tar(file(name, text) for name, text in files.items())
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def directory(path: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path
