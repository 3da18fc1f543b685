"""Follows the CustomResourceDefinitions: gives free names to who waits for them, empties kinds that go.

Run after every write that may matter; what it finds in order costs no write.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ... import log
from ...errors import ApiError, Conflict, NotFound
from ..store import Entry, Place
from .definitions import CLEANUP, terminating, with_names
from .deletion import DeleteOptions
from .kinds import CRD

if TYPE_CHECKING:
    from .objects import Objects

LOG = log.logger("api")


class Establishing:
    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def named(self, definition: dict[str, Any]) -> dict[str, Any]:
        """A sound definition that is being written, with the names it gets beside the others."""
        name = definition["metadata"].get("name")
        entries = self._objects.store.entries(CRD.resource)
        others = [e.load() for e in entries if e.place.name != name]
        return with_names(definition, others, self._objects.stamp())

    def going(self, resource: str) -> bool:
        """Whether the definition of a kind waits for its last object."""
        group, _, plural = resource.rpartition("/")
        entry = self._objects.store.get(Place(CRD.resource, "", f"{plural}.{group}"))
        return entry is not None and b'"deletionTimestamp"' in entry.value and terminating(entry.load())

    def soon(self) -> None:
        """Look at all definitions, once for however many ask meanwhile."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._again:
            self._again = False
            try:
                await self.look()
            except ApiError as error:
                LOG.warning("definitions: will try again at the next write: %s", error.message)

    async def look(self) -> None:
        for entry in self._objects.store.entries(CRD.resource):
            await self._look_at(entry)

    async def _look_at(self, entry: Entry) -> None:
        store, definition = self._objects.store, entry.load()
        if terminating(definition) and await self._emptied(definition["spec"]):
            finalizers = definition["metadata"].get("finalizers") or []
            definition["metadata"]["finalizers"] = [f for f in finalizers if f != CLEANUP]
            if not definition["metadata"]["finalizers"]:
                await self._write(entry, definition, gone=True)
                return
        others = [e.load() for e in store.entries(CRD.resource) if e.place != entry.place]
        named = with_names(definition, others, self._objects.stamp())
        if named != entry.load():
            await self._write(entry, named)

    async def _write(self, entry: Entry, definition: dict[str, object], *, gone: bool = False) -> None:
        write = self._objects.store.delete if gone else self._objects.store.put
        try:
            await write(entry.place, definition, entry.revision)
        except Conflict:
            await self._objects.store.settled(entry.place)
        self._objects.learn_kinds()
        self._again = True

    async def _emptied(self, spec: dict[str, object]) -> bool:
        """Ask every object of the kind to go; whether none is left."""
        objects = self._objects
        names = spec["names"]
        assert isinstance(names, dict)
        kind = next(
            (k for k in objects.registry.kinds if (k.group, k.plural) == (spec["group"], names["plural"])),
            None,
        )
        if kind is None:
            return True
        for entry in objects.store.entries(kind.resource):
            if b'"deletionTimestamp"' in entry.value and entry.load()["metadata"].get("deletionTimestamp"):
                continue
            try:
                await objects.delete(kind, entry.place, DeleteOptions())
            except NotFound:
                continue
        return not objects.store.entries(kind.resource)
