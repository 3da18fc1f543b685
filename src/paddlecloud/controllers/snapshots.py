"""Looks around one object: its children, what it is related to, and the answers to its questions.

Everything comes from caches, except children read live when a cache has fallen behind our own writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..api.meta import Key, Resource
from ..cluster.client import Client
from ..errors import NotFound
from .contract import Controller, HttpCall, Ref, Selection, Snapshot, identity
from .expectations import Informers
from .keyring import Keyring
from .ownership import owner_uid
from .questions import ask
from .relations import selects


@dataclass(frozen=True)
class Around:
    """One object and what is known of its surroundings before anybody was asked."""

    obj: Resource
    children: Iterable[Resource]
    now: datetime
    refused: tuple[str, ...] = ()
    logs_kept: bool = False
    glance: bool = True
    rebuffs: Mapping[HttpCall, str] = field(default_factory=dict)


async def look(
    controller: Controller,
    around: Around,
    informers: Informers,
    client: Client,
    keyring: Keyring | None = None,
) -> Snapshot:
    """The snapshot that *controller* decides on."""
    related = related_objects(controller.related(around.obj), informers)
    children = tuple(sorted(around.children, key=identity))
    missing = missing_kinds((*controller.owns, *controller.reads), informers)
    seen = Snapshot(
        around.now,
        children,
        related,
        refused=around.refused,
        logs_kept=around.logs_kept,
        glance=around.glance,
        missing=missing,
        rebuffs=around.rebuffs,
    )
    questions = controller.asks(around.obj, seen)
    if not questions:
        return seen
    answered = replace(seen, answers=await ask(client, questions, keyring))
    answered.worked.update(seen.worked)
    return answered


def missing_kinds(kinds: Iterable[type[Resource]], informers: Informers) -> frozenset[type[Resource]]:
    return frozenset(kind for kind in kinds if informers[kind].absent)


def cached_children(obj: Resource, kinds: Iterable[type[Resource]], informers: Informers) -> list[Resource]:
    return [child for kind in kinds for child in informers[kind].owned(obj.uid)]


async def live_children(obj: Resource, kinds: Iterable[type[Resource]], client: Client) -> list[Resource]:
    found: list[Resource] = []
    for kind in kinds:
        try:
            listing = await client.list(kind, obj.namespace if kind.namespaced else "")
        except NotFound:
            continue  # a kind that is not there has no objects
        found += (child for child in listing.items if owner_uid(child) == obj.uid)
    return found


def related_objects(wishes: Iterable[Ref | Selection], informers: Informers) -> tuple[Resource, ...]:
    found: dict[tuple[type[Resource], str, str], Resource] = {}
    for wish in wishes:
        for obj in matching(wish, informers):
            found[type(obj), obj.namespace, obj.name] = obj
    return tuple(found.values())


def matching(wish: Ref | Selection, informers: Informers) -> Iterable[Resource]:
    informer = informers[wish.kind]
    if isinstance(wish, Selection):
        if wish.orphans:
            return [obj for obj in informer.owned("") if selects(wish, obj)]
        return [obj for obj in informer.labelled(wish.namespace, wish.labels) if selects(wish, obj)]
    obj = informer.get(Key(wish.namespace if wish.kind.namespaced else "", wish.name))
    return [] if obj is None else [obj]
