"""A local copy of all objects of one kind that follows the cluster: list once, then watch.

Invariant: the cache is the cluster as it was at `revision`, never older than it has been before, and
every difference between two moments was told to the subscribers as (old, new). Objects that do not fit
their class are left out, with one line in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from .. import log
from ..api.meta import Key, Resource
from ..errors import ApiError, Expired, Invalid, NotFound, PaddleCloudError
from . import unmanaged
from .client import Client
from .objects import read
from .requests import Labels, Scope
from .retries import delay
from .sharing import Sharing
from .watching import WatchEvent

R = TypeVar("R", bound=Resource)
Callback = Callable[[R | None, R | None], None]


class Informer(Generic[R]):
    """The objects of *kind* in *namespace* (empty: everywhere) with *labels*, current while `run` runs."""

    def __init__(
        self,
        client: Client,
        kind: type[R],
        namespace: str = "",
        *,
        labels: Labels = None,
        owner_of: Callable[[R], str] = lambda obj: obj.controlled_by(),
        luck: Callable[[], float] = random.random,
        remembered: Callable[[R], R] | None = None,
    ) -> None:
        """*remembered* leaves out what nobody here needs of an object."""
        self.kind = kind
        self.synced = asyncio.Event()
        self.revision = ""
        """The resource version up to which everything has been seen."""
        self.trouble = ""
        """Why it does not follow the cluster at the moment."""
        self.absent = False
        """The cluster did not serve the kind when it was last asked."""
        self.nudged = False
        """Somebody says when to look again (`nudge`): nobody asks before for a kind that is not served."""
        self._again = asyncio.Event()
        self._remembered, self._sharing = remembered, Sharing()
        self._client, self._scope, self._luck, self._owner_of = (
            client,
            Scope(namespace, labels),
            luck,
            owner_of,
        )
        self._objects: dict[Key, R] = {}
        self._owned: dict[str, dict[Key, R]] = {}
        self._labels: dict[str, dict[tuple[str, str], dict[Key, R]]] = {}
        self._callbacks: list[Callback[R]] = []
        self._misfits: set[str] = set()
        self._log = log.logger(f"informer.{kind.plural}")

    def get(self, key: Key) -> R | None:
        return self._objects.get(key)

    def all(self) -> tuple[R, ...]:
        return tuple(self._objects.values())

    def owned(self, uid: str) -> tuple[R, ...]:
        """The objects controlled by the owner with that uid; with an empty one, those nobody controls."""
        return tuple(self._owned.get(uid, {}).values())

    def labelled(self, namespace: str, labels: Iterable[tuple[str, str]]) -> tuple[R, ...]:
        """The objects of a namespace that may carry *labels*: the first one is looked up, the rest is not."""
        first = next(iter(labels), None)
        if first is None or not namespace:
            return self.all()
        name, value = first
        if name not in self._labels:
            self._labels[name] = {}
            for key, obj in self._objects.items():
                self._label(name, key, obj)
        return tuple(self._labels[name].get((namespace, value), {}).values())

    def reached(self, resource_version: str) -> bool:
        """Whether every change up to *resource_version* of this kind is in the cache.

        Versions of one kind are compared as numbers: they grow with every write, and Kubernetes
        promises that comparison. One that is no number is never reached.
        """
        have = self.revision
        return have.isdecimal() and resource_version.isdecimal() and int(have) >= int(resource_version)

    def subscribe(self, callback: Callback[R]) -> None:
        """Call with (old, new) at every change, beginning with (None, object) for all there are."""
        self._callbacks.append(callback)
        for obj in self.all():
            callback(None, obj)

    async def run(self) -> None:
        """Follow the cluster until cancelled, whatever it does meanwhile."""
        failures = 0
        while True:
            absent = False
            self._again.clear()
            try:
                if not self.revision:
                    await self._list()
                # A server that hangs up at once, without a word, must not be hammered either.
                failures = 0 if await self._follow() else failures + 1
            except PaddleCloudError as error:
                failures += 1
                absent = isinstance(error, NotFound)
                self._failed(error)
            if self.nudged and absent:
                await self._again.wait()
                failures = 0
            else:
                await self._pause(delay(failures, self._luck()) if failures else 0)

    def nudge(self) -> None:
        """Whatever it waits for after a failure: now is a good moment to try."""
        self._again.set()

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._again.wait()

    async def _list(self) -> None:
        try:
            listing = await self._client.list_read(self.kind, self._scope, self._found, unmanaged.parse)
        except NotFound:
            # Not served here (yet): that is an empty kind, not a reason to hold up everybody else.
            self.absent = True
            self._become({})
            self.synced.set()
            raise
        self.absent = False
        self._become(dict(listing.items))
        self.revision = listing.resource_version
        self.synced.set()
        self._well()

    async def _follow(self) -> bool:
        """Watch until the server ends it; whether anything came."""
        moved = False
        scope = self._scope
        events = self._client.watch(self.kind, scope.namespace, self.revision, labels=scope.labels)
        async with aclosing(events):
            async for event in events:
                moved = True
                self._well()
                self._apply(event)
        self._well()
        return moved

    def _apply(self, event: WatchEvent) -> None:
        # The version is raised before the subscribers hear of it: they may ask `reached` at once.
        self.revision = event.resource_version or self.revision
        if event.type == "BOOKMARK":
            return
        key = key_of(event.object)
        self._set(key, None if event.type == "DELETED" else self._parse(event.object))

    def _become(self, found: dict[Key, R | None]) -> None:
        """Take a complete list: what is not in it has been deleted."""
        for key in self._objects.keys() - found.keys():
            self._set(key, None)
        for key, obj in found.items():
            self._set(key, obj)

    def _set(self, key: Key, new: R | None) -> None:
        old = self._objects.pop(key, None)
        if old is not None:
            self._unindex(key, old)
        if new is not None:
            self._objects[key] = new
            self._owned.setdefault(self._owner_of(new), {})[key] = new
            for name in self._labels:
                self._label(name, key, new)
        if old is None and new is None:
            return
        if old and new and old.metadata.resource_version == new.metadata.resource_version:
            return
        for callback in self._callbacks:
            callback(old, new)

    def _unindex(self, key: Key, old: R) -> None:
        owner = self._owner_of(old)
        if siblings := self._owned.get(owner):
            siblings.pop(key, None)
            if not siblings:
                del self._owned[owner]
        for name, index in self._labels.items():
            place = (key.namespace, old.metadata.labels.get(name, ""))
            if found := index.get(place):
                found.pop(key, None)
                if not found:
                    del index[place]

    def _label(self, name: str, key: Key, obj: R) -> None:
        if name in obj.metadata.labels:
            place = (key.namespace, obj.metadata.labels[name])
            self._labels[name].setdefault(place, {})[key] = obj

    def _found(self, item: dict[str, Any]) -> tuple[Key, R | None]:
        return key_of(item), self._parse(item)

    def _parse(self, item: dict[str, Any]) -> R | None:
        uid = str(item.get("metadata", {}).get("uid"))
        # A third of most objects, and nobody decides by it.
        item.get("metadata", {}).pop("managedFields", None)
        try:
            obj = read(self.kind, item)
        except Invalid as error:
            if uid not in self._misfits:
                self._misfits.add(uid)
                self._log.warning("left out: %s", error.message)
            return None
        self._misfits.discard(uid)
        kept = self._remembered(obj) if self._remembered else obj
        self._sharing.compact(kept)
        return kept

    def _failed(self, error: PaddleCloudError) -> None:
        if isinstance(error, ApiError):
            # The server understood and refused: what we believe to have seen may be wrong. List again.
            self.revision = ""
        if isinstance(error, Expired):
            return
        if error.message != self.trouble:
            self.trouble = error.message
            self._log.warning("not following: %s", error.message)

    def _well(self) -> None:
        if self.trouble:
            self.trouble = ""
            self._log.info("following again")


def key_of(item: dict[str, Any]) -> Key:
    metadata = item["metadata"]
    return Key(metadata.get("namespace") or "", metadata["name"])
