"""Garbage collection by owner: background, foreground and orphaning, as Kubernetes does it.

`collect` is pure: from the families of objects to what should happen to some of them. `Collector` carries it
out for those that a change concerns, now and then for all, and believes that an owner is gone only after the
server itself said so: a cache may be behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...api.core import (
    ConfigMap,
    Event,
    Namespace,
    PersistentVolumeClaim,
    Pod,
    Secret,
    Service,
    ServiceAccount,
    StatefulSet,
)
from ...api.kinds import EMBEDDED_ONLY, OURS
from ...api.meta import OwnerReference, Resource
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import Conflict, NotFound
from .everything import Everything
from .families import Families

NAMESPACED: tuple[type[Resource], ...] = (
    Pod,
    ConfigMap,
    Secret,
    Service,
    ServiceAccount,
    PersistentVolumeClaim,
    StatefulSet,
    Event,
    *OURS,
    *(kind for kind in EMBEDDED_ONLY if kind.namespaced),
)
KINDS: tuple[type[Resource], ...] = (*NAMESPACED, Namespace)
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
Informers = Mapping[type[Resource], Informer[Any]]


@dataclass(frozen=True)
class Work:
    delete: tuple[Resource, ...] = ()
    """All of their owners are gone, or are being deleted in the foreground."""
    disown: tuple[tuple[Resource, frozenset[str]], ...] = ()
    """Objects that lose the owners with these uids, and live on."""
    release: tuple[tuple[Resource, str], ...] = ()
    """Objects that lose a finalizer: nothing of theirs is left to wait for."""


def collect(families: Families, candidates: Iterable[Resource]) -> Work:
    delete, disown, release = [], [], []
    for obj in candidates:
        if obj.metadata.deletion_timestamp is None:
            references = obj.metadata.owner_references
            if not references:
                continue
            there = [owner for r in references if (owner := families.find(r.uid))]
            lost = {r.uid for r in references} - {owner.uid for owner in there}
            solid = not all(map(goes, there))
            orphaned = any(ORPHAN in held(owner) for owner in there)
            if solid and lost:
                disown.append((obj, frozenset(lost)))
            elif not solid and not orphaned:
                delete.append(obj)
            continue
        mine = families.dependents(obj.uid)
        if ORPHAN in held(obj):
            disown += [(child, frozenset({obj.uid})) for child in mine]
            release += [(obj, ORPHAN)] if not mine else []
        elif FOREGROUND in held(obj) and not any(blocks(child, obj.uid) for child in mine):
            release.append((obj, FOREGROUND))
    return Work(tuple(delete), tuple(disown), tuple(release))


def held(obj: Resource) -> list[str]:
    """The collector's finalizers on an object that is being deleted."""
    return obj.metadata.finalizers if obj.metadata.deletion_timestamp is not None else []


def goes(owner: Resource) -> bool:
    """An owner that is deleted in the foreground takes its children first."""
    return FOREGROUND in held(owner) or ORPHAN in held(owner)


def keeps(owner: Resource, uid: str) -> bool:
    """Whether what the server has in an owner's place is that owner, and will not take its children along.

    One that lets them go keeps them until it has: a cache that does not know it yet must not be believed.
    """
    return owner.uid == uid and FOREGROUND not in held(owner)


def blocks(child: Resource, owner: str) -> bool:
    return any(r.uid == owner and r.block_owner_deletion for r in child.metadata.owner_references)


class Collector:
    def __init__(self, client: Client, everything: Everything) -> None:
        self._client, self._everything = client, everything
        self._families, self._other_kinds = Families(), False
        self.changed = asyncio.Event()
        """There is somebody to look at."""
        everything.follow(self._follow)

    async def look(self) -> None:
        # An owner of a kind that was not listed yet would look like one that is gone.
        await self._everything.complete.wait()
        if self._other_kinds:
            self._other_kinds = False
            self._families = Families(o for i in self._everything.informers for o in i.all())
        # Whoever looks although nobody told of anything looks at all.
        candidates = self._families.concerned() or self._families.everybody()
        try:
            await self._work(collect(self._families, candidates))
        except BaseException:
            self._families.concern(obj.uid for obj in candidates)
            raise

    def _follow(self, old: Resource | None, new: Resource | None) -> None:
        self._other_kinds = self._other_kinds or (old is None and new is None)
        if self._families.change(old, new) or self._other_kinds:
            self.changed.set()

    async def _work(self, work: Work) -> None:
        for obj in work.delete:
            if not any([await self._alive(r, obj.namespace) for r in obj.metadata.owner_references]):
                await self._delete(obj)
        for obj, owners in work.disown:
            refs = [r for r in obj.metadata.owner_references if r.uid not in owners]
            await self._patch(obj, {"ownerReferences": [r.wire() for r in refs] or None})
        for obj, finalizer in work.release:
            await self._patch(obj, {"finalizers": [f for f in obj.metadata.finalizers if f != finalizer]})

    async def _alive(self, owner: OwnerReference, namespace: str) -> bool:
        kind = self._everything.kind(owner.api_version, owner.kind)
        if kind is None:
            return True  # not a kind we know: not ours to judge
        found = await self._client.find(kind, namespace if kind.namespaced else "", owner.name)
        return found is not None and keeps(found, owner.uid)

    async def _delete(self, obj: Resource) -> None:
        try:
            await self._client.delete(type(obj), obj.key, uid=obj.uid)
        except NotFound:
            return
        except Conflict:
            self._again(obj)

    async def _patch(self, obj: Resource, metadata: dict[str, Any]) -> None:
        # Written over exactly what was seen: a newer object is looked at again.
        seen = {"uid": obj.uid, "resourceVersion": obj.metadata.resource_version}
        try:
            await self._client.patch(type(obj), obj.key, {"metadata": {**metadata, **seen}})
        except NotFound:
            return
        except Conflict:
            self._again(obj)

    def _again(self, obj: Resource) -> None:
        """The server knew more of it than was seen: look once more when that has come."""
        self._families.concern([obj.uid])
        self.changed.set()
