"""Brings an image from a registry into the store: once, however many ask, and all of it or no name.

The manifest is looked at first; whatever content is here already is not fetched again.
"""

from __future__ import annotations

import asyncio
import hashlib

from . import manifests
from .connection import Surroundings
from .credentials import Keyring
from .failures import Damaged
from .layout import PULLED, Entry, Store
from .locks import only_one
from .manifests import Descriptor, Manifest
from .names import Name
from .registry import Fetched, Repository
from .steps import Report, Step, silent

AT_ONCE = 3
MOST_INDEXES = 3
DAMAGED_TRIES = 2


async def pull(
    store: Store, name: Name, keyring: Keyring, report: Report = silent, around: Surroundings | None = None
) -> Entry:
    """What *name* stands for in its registry, brought here; raises an `ImageFailure`."""
    alone = only_one(store.lock(f"pull-{short(str(name))}"), lambda: report(Step("waiting")))
    async with store.adding(), alone, Repository(name, keyring, around or Surroundings()) as repository:
        fetched = await image_for_machine(repository, name)
        what = str(name)
        manifest = manifests.manifest_of(manifests.parse(fetched.content, what), what)
        await fetch_all(store, repository, manifest, report)
        with store.writing():
            store.put(fetched.content)
            store.config(manifest)
            kind = fetched.media_type if fetched.media_type in manifests.MANIFESTS else manifests.MANIFEST
            entry = Entry(str(name), Descriptor(fetched.digest, len(fetched.content), kind), PULLED)
            store.tag(name, entry.manifest, PULLED)
        return entry


async def image_for_machine(repository: Repository, name: Name) -> Fetched:
    reference = name.reference
    for _ in range(MOST_INDEXES):
        fetched = await repository.manifest(reference)
        document = manifests.parse(fetched.content, f"the manifest of {name}")
        if not manifests.is_index(document, fetched.media_type):
            return fetched
        reference = manifests.for_machine(manifests.index_of(document, str(name)), str(name)).digest
    raise Damaged(f"{name}: indexes in indexes in indexes")


async def fetch_all(store: Store, repository: Repository, manifest: Manifest, report: Report) -> None:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(blob: Descriptor) -> None:
        async with slots:
            await fetch(store, repository, blob, report)

    tasks = [asyncio.create_task(one(blob)) for blob in {b.digest: b for b in manifest.blobs()}.values()]
    try:
        await asyncio.gather(*tasks)
    finally:
        # The first failure ends the pull; what has arrived is gone on with at the next try.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def fetch(store: Store, repository: Repository, blob: Descriptor, report: Report) -> None:
    def moved(count: int) -> None:
        report(Step("downloading", blob.digest, count, blob.size))

    async with only_one(store.lock(f"blob-{blob.digest.removeprefix('sha256:')}")):
        for left in reversed(range(DAMAGED_TRIES)):
            if store.has(blob.digest):
                moved(blob.size)
                return
            part = store.unfinished(blob.digest)
            await repository.blob(blob, part, moved)
            try:
                with store.writing():
                    await asyncio.to_thread(store.adopt, part, blob)
            except Damaged:
                # What lay here from an earlier try may have been the damaged half.
                if not left:
                    raise


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
