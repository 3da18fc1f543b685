"""An image name in a pod becomes an image that can be run: found or pulled, verified and unpacked.

This is what a node calls. Asking again for what is here costs a look at the index; asking at the same time as
others costs one download and one unpacking between all of them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .. import settings
from . import resolving, words
from .connection import Surroundings
from .credentials import EMPTY, Keyring
from .failures import ImageFailure, NotPulled, NotUsable
from .layers import unpack
from .layout import Entry, Store
from .locks import only_one
from .manifests import Config, Descriptor
from .names import local
from .pulling import pull
from .resolving import FromRegistry, FromSuite, Known, Policy, Suite
from .steps import Report, Step, silent


@dataclass(frozen=True)
class Image:
    """What a container is made from."""

    name: str
    config: Config
    digest: str = ""
    """Of the manifest; empty for a suite."""
    layers: tuple[Path, ...] = ()
    """Folders to lay over each other, lowest first; none for a suite."""
    suite: str = ""
    pulled: bool = False
    """Whether this call fetched it; a node then says so in an event."""
    size: int = 0


@dataclass(frozen=True)
class Sources:
    """Where images may come from on this machine."""

    store: Store
    suites: tuple[Suite, ...] = ()
    around: Surroundings = field(default_factory=Surroundings)
    local_only: bool = False
    """Registries elsewhere are not asked."""

    def known(self) -> Known:
        return Known(resolving.by_place(self.suites), self.store.entries())


def sources(images: Path, suites: Iterable[Suite], around: Surroundings | None = None) -> Sources:
    """*images* is the folder of the store: `Home.images`."""
    local_only = settings.value("registries") == "local"
    return Sources(Store(images), tuple(suites), around or Surroundings(), local_only)


async def resolve(
    image: str, policy: Policy, where: Sources, keyring: Keyring = EMPTY, report: Report = silent
) -> Image:
    """The image that a container of a pod is to run.

    Raises `InvalidName`, `NeverPulled`, or another `ImageFailure` whose message is that of the event.
    """
    known = where.known()
    choice = resolving.choose(image, policy, known)
    if isinstance(choice, FromSuite):
        return of_suite(image, choice.suite)
    try:
        if not isinstance(choice, FromRegistry):
            return await unpacked(where.store, image, choice.entry, report)
        if where.local_only and not local(choice.name.registry):
            raise NotPulled(f"{choice.name} is elsewhere, and only this machine is asked (registries: local)")
        entry = await pull(where.store, choice.name, keyring, report, where.around)
        fresh = choice.here is None or choice.here.manifest.digest != entry.manifest.digest
        return await unpacked(where.store, image, entry, report, fresh=fresh)
    except NotPulled as error:
        raise resolving.failure(image, error.message, known) from error
    except ImageFailure as error:
        raise type(error)(words.failed(image, error.message), next_step=error.next_step) from error


def of_suite(image: str, suite: Suite) -> Image:
    says = suite.says
    config = Config(
        entrypoint=tuple(says.entrypoint), cmd=tuple(says.cmd), env=dict(says.env), working_dir=says.at
    )
    return Image(image, config, suite=suite.name)


async def unpacked(
    store: Store, image: str, entry: Entry, report: Report = silent, *, fresh: bool = False
) -> Image:
    """The image of *entry* with its layers as folders."""
    manifest = await asyncio.to_thread(store.manifest, entry.manifest.digest)
    config = await asyncio.to_thread(store.config, manifest)
    layers = []
    async with store.adding():
        for layer, diff_id in zip(manifest.layers, config.diff_ids, strict=True):
            layers.append(await one_layer(store, layer, diff_id, report))
    return Image(image, config, entry.manifest.digest, tuple(layers), pulled=fresh, size=manifest.size)


async def one_layer(store: Store, layer: Descriptor, diff_id: str, report: Report) -> Path:
    stopped, done = threading.Event(), 0

    def moved(count: int) -> None:
        nonlocal done
        if stopped.is_set():
            raise NotUsable("unpacking was stopped")
        done += count
        if count:
            loop.call_soon_threadsafe(report, Step("unpacking", layer.digest, done))

    loop = asyncio.get_running_loop()
    async with only_one(store.lock(f"layer-{diff_id.removeprefix('sha256:')}")):
        try:
            return await asyncio.to_thread(unpack, store, layer, diff_id, moved)
        finally:
            # A thread cannot be cancelled; it finds out at the next file and cleans up after itself.
            stopped.set()
