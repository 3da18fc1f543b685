"""The store as the server sees it: current objects in memory, revisions on disk, watches without gaps.

A write is checked against the newest revision of its place, gets the next revision, and is committed
(`committing`). Only then is it visible, acknowledged and told to the watchers, in the order of revisions.
All of that happens on one event loop, so "listen, then read the past" is one step and nothing falls between
the two.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import orjson

from ...errors import Conflict, Expired, Failed, TooLarge, Unavailable
from .committing import Committing, Write
from .entries import Change, Changes, Entry, Place
from .recent import Recent
from .revisions import Revisions, Row
from .soundness import refusal, told
from .telling import Telling
from .watches import Watch

RECENT = 4096  # changes kept in memory for watches that start a little in the past
LARGEST = 1536 * 1024  # bytes of an object; etcd takes no larger ones either
REPLAYED = 64 * 1024 * 1024  # bytes of changes that are read from disk for one watch
KEPT = 20_000  # revisions that can be watched from; older ones are compacted


class Store:
    def __init__(self, path: Path) -> None:
        self.revisions = Revisions(path)
        self.objects: dict[str, dict[tuple[str, str], Entry]] = {}
        self.revision = self.compacted = 0
        self._deletions: dict[Place, int] = {}  # what a new object at a deleted place must follow
        self._load()
        self._next = self.revision
        self._under_way: dict[Place, asyncio.Future[Entry]] = {}
        self._recent = Recent(maxlen=RECENT)
        self.changed: dict[str, int] = {}
        """At which revision a resource was last written since the start: visible together with the write."""
        self._epoch = 0
        self.refused: tuple[float, Unavailable] | None = None
        """When and why the last write was not kept; None once one was."""
        self._loop = asyncio.get_running_loop()
        self._telling = Telling(self._loop)
        self._committing = Committing(self.revisions, self._committed, self._failed)

    def _load(self) -> None:
        try:
            with told(self.revisions.path):
                self.revision = self.revisions.last()
                self.compacted = self.revisions.compacted()
                for entry, deleted in self.revisions.newest():
                    if deleted:
                        self._deletions[entry.place] = entry.revision
                    else:
                        self._table(entry.place)[entry.place.namespace, entry.place.name] = entry
        except Failed:
            self.revisions.close()
            raise

    async def close(self) -> None:
        await self._committing.close()
        self._telling.tell()
        for watch in self._telling.watches():
            watch.close()
        self.revisions.close()

    @property
    def working(self) -> bool:
        """Whether somebody commits what is written: until it is closed."""
        return self._committing.working

    # reading

    def get(self, place: Place) -> Entry | None:
        return self.objects.get(place.resource, {}).get((place.namespace, place.name))

    def entries(self, resource: str, namespace: str = "") -> list[Entry]:
        """The objects as they are now, in the order of their places."""
        table = self.objects.get(resource, {})
        if namespace:
            return [table[key] for key in sorted(k for k in table if k[0] == namespace)]
        return [table[key] for key in sorted(table)]

    def occupied(self, namespace: str) -> bool:
        """Whether any object at all is in a namespace."""
        return any(key[0] == namespace for table in self.objects.values() for key in table)

    def entries_as_of(self, resource: str, namespace: str, revision: int) -> list[Entry]:
        """The objects as they were; raises `Expired` when that is no longer known."""
        if revision == self.revision:
            return self.entries(resource, namespace)
        if revision < self.compacted:
            raise Expired("The provided continue parameter is too old to display a consistent list result.")
        entries = self.revisions.as_of(revision, resource)
        return [e for e in entries if not namespace or e.place.namespace == namespace]

    def watch(self, resource: str, after: int) -> Watch:
        """Every change of a resource later than *after*, without gaps, until closed.

        Raises `Expired` when *after* has been compacted away; the caller lists again.
        """
        if after < self.compacted:
            raise Expired(f"too old resource version: {after} ({self.compacted})")
        past = self._past(resource, after)
        watch = Watch(resource, after, self._telling.remove)
        self._telling.add(watch)
        watch.tell(Changes(past))
        return watch

    def _past(self, resource: str, after: int) -> list[Change]:
        if after >= self.revision:
            return []
        if self._recent and self._recent[0].revision <= after + 1:
            late = (c for c in self._recent if c.revision > after and c.entry.place.resource == resource)
            return [change.bare() for change in late]
        past, size = [], 0
        for change in self.revisions.since(after, resource):
            if change.revision <= self.revision:
                past.append(change)
                size += len(change.entry.value)
            if size > REPLAYED:
                # To list again is cheaper, for the client too.
                raise Expired(f"too old resource version: {after} ({self.revision})")
        return past

    # writing

    async def put(self, place: Place, body: dict[str, Any], previous: int) -> Entry:
        """Store *body* as the revision that follows *previous* (0: there must be none).

        Raises `Conflict` when something else follows it already.
        """
        return await self._write(place, body, previous, deleted=False)

    async def delete(self, place: Place, body: dict[str, Any], previous: int) -> Entry:
        """Delete what is there at *previous*; *body* is its last state, as watchers will see it."""
        return await self._write(place, body, previous, deleted=True)

    async def _write(self, place: Place, body: dict[str, Any], previous: int, *, deleted: bool) -> Entry:
        if place in self._under_way:
            # Whoever comes second has read a state that is about to be old.
            raise Conflict(f"{place.name} is being written")
        current = self.get(place)
        if previous != (current.revision if current else 0):
            raise Conflict(
                f"{place.name} is at revision {current.revision if current else 0}, not {previous}"
            )
        follows = current.revision if current else self._deletions.get(place, 0)
        number = self._next + 1
        body.setdefault("metadata", {})["resourceVersion"] = str(number)
        value = orjson.dumps(body)
        if len(value) > LARGEST and not deleted:
            raise TooLarge(f"request is too large: {place.name} has {len(value)} bytes, limit is {LARGEST}")
        self._next = number
        entry = Entry(place, number, value)
        done: asyncio.Future[Entry] = self._loop.create_future()
        self._under_way[place] = done
        change = Change(entry, current.value if current else None, deleted)
        self._committing.add(Write(Row(number, place, follows, deleted, value), change, done, self._epoch))
        return await done

    async def settled(self, place: Place) -> None:
        """Returns when no write of *place* is on its way to disk."""
        while under_way := self._under_way.get(place):
            await asyncio.wait([under_way])

    def _committed(self, batch: list[Write]) -> None:
        self.refused = None
        for write in batch:
            entry = write.change.entry
            place = entry.place
            self.revision = self.changed[place.resource] = entry.revision
            key = (place.namespace, place.name)
            self._under_way.pop(place, None)
            if write.change.deleted:
                self._table(place).pop(key, None)
                self._deletions[place] = entry.revision
            else:
                self._table(place)[key] = entry
                self._deletions.pop(place, None)
            self._recent.append(write.change.bare())
            if not write.done.done():
                write.done.set_result(entry)
        self._telling.changed([write.change for write in batch])

    def _failed(self, batch: list[Write], error: Exception) -> None:
        if batch[0].epoch == self._epoch:
            self._epoch += 1
            self._next = self.revision
        self.refused = (time.monotonic(), refusal(error))
        for write in batch:
            self._under_way.pop(write.change.entry.place, None)
            if not write.done.done():
                write.done.set_exception(refusal(error))

    def compact_if_due(self, kept: int = KEPT) -> bool:
        """Forget old revisions once there are twice as many as need be kept.

        Raises `Unavailable` when the disk refuses; nothing is forgotten then.
        """
        target = self.revision - kept
        if target - self.compacted < kept:
            return False
        try:
            self.revisions.compact(target)
        except sqlite3.Error as error:
            raise Unavailable(f"the store could not be compacted: {error}") from error
        self.compacted = target
        self._deletions = {p: r for p, r in self._deletions.items() if r > target}
        return True

    def _table(self, place: Place) -> dict[tuple[str, str], Entry]:
        return self.objects.setdefault(place.resource, {})
