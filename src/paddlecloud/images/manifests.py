"""Manifests, indexes and configurations as values: what they must have is checked here, once.

Both families of media types, Docker's and OCI's, mean the same and are read alike; the bytes are kept as they
came, since their digest is their name. Pure.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .failures import Damaged, Unsupported
from .names import DIGEST

OCI, DOCKER = "application/vnd.oci.image", "application/vnd.docker"
MANIFEST = f"{OCI}.manifest.v1+json"
INDEX = f"{OCI}.index.v1+json"
CONFIG = f"{OCI}.config.v1+json"
LAYER, LAYER_GZIP = f"{OCI}.layer.v1.tar", f"{OCI}.layer.v1.tar+gzip"
MANIFESTS = (MANIFEST, f"{DOCKER}.distribution.manifest.v2+json")
INDEXES = (INDEX, f"{DOCKER}.distribution.manifest.list.v2+json")
OUTDATED = f"{DOCKER}.distribution.manifest.v1"
LARGEST = 4 << 20
"""Bytes of a manifest or an index; the specification asks registries for no more."""
LARGEST_CONFIG = 16 << 20
MOST_LAYERS = 500

ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
}


@dataclass(frozen=True)
class Descriptor:
    digest: str
    size: int
    media_type: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    platform: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        body: dict[str, Any] = {"mediaType": self.media_type, "digest": self.digest, "size": self.size}
        if self.platform:
            body["platform"] = dict(self.platform)
        if self.annotations:
            body["annotations"] = dict(sorted(self.annotations.items()))
        return body


@dataclass(frozen=True)
class Manifest:
    config: Descriptor
    layers: tuple[Descriptor, ...]

    @property
    def size(self) -> int:
        return self.config.size + sum(layer.size for layer in self.layers)

    def blobs(self) -> tuple[Descriptor, ...]:
        return (self.config, *self.layers)


@dataclass(frozen=True)
class Config:
    """How an image wants its containers to be run."""

    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    user: str = ""
    stop_signal: str = ""
    exposed_ports: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    diff_ids: tuple[str, ...] = ()
    """The digest of each layer's tar before compression, lowest first."""


def digest_of(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def encoded(document: Mapping[str, Any]) -> bytes:
    """One text for one document, on every machine."""
    return json.dumps(document, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def parse(content: bytes, what: str) -> dict[str, Any]:
    """The object in *content*; raises `Damaged` that names *what* it was to be."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{what} is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise Damaged(f"{what} is no JSON object")
    return document


def is_index(document: Mapping[str, Any], media_type: str = "") -> bool:
    """OCI allows to leave the media type out; the fields tell as well."""
    kind = document.get("mediaType") or media_type
    return kind in INDEXES or (kind not in MANIFESTS and "manifests" in document)


def index_of(document: Mapping[str, Any], what: str) -> tuple[Descriptor, ...]:
    return tuple(descriptor(entry, what) for entry in items(document, "manifests", what))


def manifest_of(document: Mapping[str, Any], what: str) -> Manifest:
    """Raises `Unsupported` for manifests that hold no image of this kind, `Damaged` for broken ones."""
    kind = str(document.get("mediaType") or "")
    if document.get("schemaVersion") == 1 or kind.startswith(OUTDATED):
        raise Unsupported(
            f"{what} has a manifest of schema 1, which was given up in 2019",
            next_step="push the image again with a current tool",
        )
    if kind and kind not in MANIFESTS:
        raise Unsupported(f"{what} is no image: its manifest is of type {kind}")
    config = descriptor(document.get("config"), what)
    if not (
        config.media_type.endswith("image.config.v1+json") or config.media_type.endswith("image.v1+json")
    ):
        raise Unsupported(
            f"{what} is no container image but an artifact of type {config.media_type or 'unknown'}"
        )
    layers = tuple(descriptor(entry, what) for entry in items(document, "layers", what))
    if len(layers) > MOST_LAYERS:
        raise Unsupported(f"{what} has {len(layers)} layers; more than {MOST_LAYERS} are not taken")
    if config.size > LARGEST_CONFIG:
        raise Damaged(f"{what} says its configuration has {config.size} bytes")
    return Manifest(config, layers)


def config_of(document: Mapping[str, Any], what: str) -> Config:
    """Raises `Damaged` when a field has another type than the specification gives it."""
    run = document.get("config") or {}
    rootfs = document.get("rootfs") or {}
    if not isinstance(run, dict) or not isinstance(rootfs, dict):
        raise Damaged(f"{what} has a configuration whose `config` or `rootfs` is no object")
    diff_ids = texts(rootfs.get("diff_ids"), "diff_ids", what)
    for diff_id in diff_ids:
        if not DIGEST.fullmatch(diff_id):
            raise Damaged(f"{what} names a layer {diff_id!r}, which is no sha256 digest")
    return Config(
        entrypoint=texts(run.get("Entrypoint"), "Entrypoint", what),
        cmd=texts(run.get("Cmd"), "Cmd", what),
        env=dict(line.partition("=")[::2] for line in texts(run.get("Env"), "Env", what)),
        working_dir=str(run.get("WorkingDir") or ""),
        user=str(run.get("User") or ""),
        stop_signal=str(run.get("StopSignal") or ""),
        exposed_ports=tuple(sorted(table(run.get("ExposedPorts"), "ExposedPorts", what))),
        volumes=tuple(sorted(table(run.get("Volumes"), "Volumes", what))),
        labels={k: str(v) for k, v in table(run.get("Labels"), "Labels", what).items()},
        diff_ids=diff_ids,
    )


def for_machine(entries: Iterable[Descriptor], what: str, machine: str = "") -> Descriptor:
    """The entry of an index that this machine can run; raises `Unsupported` with those there are."""
    wanted = architecture(machine)
    there = list(entries)
    for entry in there:
        if (entry.platform.get("os"), entry.platform.get("architecture")) == ("linux", wanted):
            return entry
    images = [e for e in there if e.media_type in (*MANIFESTS, *INDEXES, "")]
    if len(images) == 1 and not images[0].platform:
        return images[0]
    # Signatures and build records are listed with an unknown platform.
    known = [f"{e.platform.get('os')}/{e.platform.get('architecture')}" for e in images if e.platform]
    offered = ", ".join(sorted({k for k in known if "unknown" not in k})) or "nothing"
    raise Unsupported(f"no match for platform in manifest: {what} has no linux/{wanted}; it has {offered}")


def architecture(machine: str = "") -> str:
    name = machine or platform.machine()
    return ARCHITECTURES.get(name, name)


def descriptor(entry: Any, what: str) -> Descriptor:
    if not isinstance(entry, dict):
        raise Damaged(f"{what} has a descriptor that is no object")
    digest, size = entry.get("digest"), entry.get("size")
    # A digest becomes the name of a file: nothing but hexadecimal digits may pass.
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise Damaged(f"{what} names content by {digest!r}, which is no sha256 digest")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise Damaged(f"{what} gives {digest} the size {size!r}")
    annotations = table(entry.get("annotations"), "annotations", what)
    system = table(entry.get("platform"), "platform", what)
    return Descriptor(
        digest,
        size,
        str(entry.get("mediaType") or ""),
        {k: str(v) for k, v in annotations.items()},
        {k: v for k, v in system.items() if isinstance(v, str)},
    )


def items(document: Mapping[str, Any], name: str, what: str) -> list[Any]:
    found = document.get(name)
    if not isinstance(found, list):
        raise Damaged(f"{what} has no list `{name}`")
    return found


def texts(found: Any, name: str, what: str) -> tuple[str, ...]:
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        raise Damaged(f"{what} has a `{name}` that is no list of texts")
    return tuple(found)


def table(found: Any, name: str, what: str) -> dict[str, Any]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Damaged(f"{what} has a `{name}` that is no object")
    return found
