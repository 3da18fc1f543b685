"""Makes the image of a suite as an OCI archive, without a daemon: base, packages and code, a layer each.

The base is an image that is given, whose layers are taken as they are, or the minimal root of this machine
(`minimalroot`). The same suite on the same machine makes the same bytes: no times, no owners, all sorted.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import Failed, WrongUse
from . import compression, manifests, minimalroot
from .items import Item, Items, write_layer
from .layout import LAYOUT, NAME, Store
from .manifests import Config, Descriptor, Manifest
from .packages import PACKAGES, PROGRAMS

CREATED = "1970-01-01T00:00:00Z"
USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Base:
    """An image to stand on."""

    store: Store
    manifest: Manifest
    config: Config
    name: str


@dataclass(frozen=True)
class Plan:
    """What an image is to hold."""

    name: str
    packages: Items
    code: Items
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    base: Base | None = None


@dataclass(frozen=True)
class Built:
    digest: str
    size: int
    """Of the archive."""
    layers: int


def build(plan: Plan, to: Path) -> Built:
    """Write the archive; *to* appears only when it is whole. Raises `WrongUse` for a base without Python."""
    try:
        with tempfile.TemporaryDirectory(prefix=".image-", dir=to.absolute().parent) as folder:
            work = Store(Path(folder) / "layout")
            layers, diff_ids = foundation(plan, work)
            for items in (plan.packages, plan.code):
                if items:
                    layer, diff_id = keep(work, items)
                    layers.append(layer)
                    diff_ids.append(diff_id)
            digest = describe(plan, work, layers, diff_ids)
            part = Path(folder) / "archive"
            pack(work, part)
            os.replace(part, to)
    except OSError as error:
        raise Failed(f"{to} cannot be written: {error.strerror or error}") from error
    return Built(digest, to.stat().st_size, len(layers))


def foundation(plan: Plan, work: Store) -> tuple[list[Descriptor], list[str]]:
    if plan.base is None:
        beside = [
            i.source
            for i in (*plan.packages.values(), *plan.code.values())
            if i.source and ".so" in i.source.name
        ]
        items = minimalroot.root(beside)
        items |= interpreter_links(f"/usr/local/bin/{minimalroot.python_name()}")
        layer, diff_id = keep(work, items)
        return [layer], [diff_id]
    links = interpreter_links(interpreter(plan.base))
    for blob in plan.base.manifest.layers:
        with plan.base.store.blob(blob.digest).open("rb") as source:
            work.take(source, blob)
    layer, diff_id = keep(work, links)
    return [*plan.base.manifest.layers, layer], [*plan.base.config.diff_ids, diff_id]


def interpreter_links(path: str) -> Items:
    """`python` and `python3` of the image, whatever the base calls them."""
    return {f"{PROGRAMS}/{name}": Item(link=path) for name in ("python", "python3")}


def interpreter(base: Base) -> str:
    """Where the base has the Python that the packages were made for."""
    name = minimalroot.python_name()
    for blob in base.manifest.layers:
        with base.store.blob(blob.digest).open("rb") as packed, \
                tarfile.open(fileobj=compression.plain(packed, base.name), mode="r|") as tar:  # fmt: skip
            for member in tar:
                path = member.name.lstrip("./")
                if path.endswith(f"bin/{name}") and (member.isreg() or member.islnk()):
                    return f"/{path}"
    raise WrongUse(
        f"the base {base.name} has no {name}, for which the suite's packages were made",
        next_step=f"take a base with {name}, or leave --base away",
    )


def keep(work: Store, items: Items) -> tuple[Descriptor, str]:
    with work.part() as part:
        layer, diff_id = write_layer(items, part)
        work.settle(part, layer.digest)
    return layer, diff_id


def describe(plan: Plan, work: Store, layers: list[Descriptor], diff_ids: list[str]) -> str:
    """Write configuration, manifest and index; gives the digest of the manifest."""
    document = {
        "architecture": manifests.architecture(),
        "os": "linux",
        "created": CREATED,
        "config": run_of(plan),
        "rootfs": {"type": "layers", "diff_ids": diff_ids},
    }
    config = manifests.encoded(document)
    text = manifests.encoded(
        {
            "schemaVersion": 2,
            "mediaType": manifests.MANIFEST,
            "config": Descriptor(work.put(config), len(config), manifests.CONFIG).document(),
            "layers": [Descriptor(layer.digest, layer.size, layer.media_type).document() for layer in layers],
        }
    )
    digest = work.put(text)
    system = {"os": "linux", "architecture": manifests.architecture()}
    entry = Descriptor(digest, len(text), manifests.MANIFEST, {NAME: plan.name}, system)
    index = {"schemaVersion": 2, "mediaType": manifests.INDEX, "manifests": [entry.document()]}
    work.replace(work.root / "index.json", manifests.encoded(index))
    work.replace(work.root / "oci-layout", manifests.encoded(LAYOUT))
    return digest


def run_of(plan: Plan) -> dict[str, Any]:
    """The suite's words over those of the base."""
    given = plan.base.config if plan.base else Config()
    path = given.env.get("PATH") or USUAL_PATH
    own = {**given.env, **plan.env}
    own["PATH"] = f"/{PROGRAMS}:{plan.env.get('PATH') or path}"
    own["PYTHONPATH"] = f"/{PACKAGES}"
    if plan.base is None:
        own["LD_LIBRARY_PATH"] = f"/{minimalroot.LIBRARIES}"
    run: dict[str, Any] = {"Env": [f"{k}={v}" for k, v in sorted(own.items())]}
    if plan.entrypoint:
        run["Entrypoint"] = list(plan.entrypoint)
    if plan.cmd:
        run["Cmd"] = list(plan.cmd)
    run["WorkingDir"] = plan.working_dir or given.working_dir or "/"
    if given.user:
        run["User"] = given.user
    return run


def pack(work: Store, to: Path) -> None:
    """The layout as one tar, uncompressed: its blobs are compressed already."""
    names = [
        "oci-layout",
        "index.json",
        *sorted(str(p.relative_to(work.root)) for p in (work.root / "blobs").rglob("*")),
    ]
    with tarfile.open(to, "w", format=tarfile.PAX_FORMAT) as tar:
        for name in ["blobs", *names]:
            path = work.root / name
            info = tarfile.TarInfo(name)
            if path.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            else:
                info.size = path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(info, file)
