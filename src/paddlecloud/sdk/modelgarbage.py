"""Removing versions, and what a store holds for nobody.

A version that an alias or a service uses is not removed. Its files stay in the store until they are
collected, because other versions may have the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..api.model import ModelPhase, ModelVersion
from ..controllers.modelpods import PUSHED
from ..errors import Failed
from ..models.garbage import Living, garbage
from ..models.manifest import parse_push
from ..models.objects import Item, ObjectStore
from .ancestry import Link, users_of
from .client import Client


def remove_version(client: Client, version: ModelVersion) -> None:
    """Raises `Failed` with who uses it."""
    if users := users_of(client, version):
        raise Failed(
            f"{version.name} is in use: {', '.join(map(told, users))}",
            next_step="move the alias or change the service first",
        )
    client.delete(ModelVersion, version.key, uid=version.uid)


def told(link: Link) -> str:
    return f"{link.what} {link.name}" + (f" ({link.state})" if link.state else "")


def living(versions: Sequence[ModelVersion]) -> Living:
    """What the versions of a namespace use; pure."""
    files = {f.sha256 for v in versions for f in v.status.files}
    converted = {f.sha256 for v in versions for c in v.status.conversions for f in c.files}
    names = {(v.spec.model, v.name) for v in versions}
    names |= {(v.spec.model, f"{v.name}.{c.format}") for v in versions for c in v.status.conversions}
    waiting = {v.spec.source.uri.removeprefix(PUSHED) for v in versions
               if v.spec.source.uri and v.status.phase is not ModelPhase.READY}  # fmt: skip
    return Living(frozenset(files | converted), frozenset(names), frozenset(waiting))


def unused(client: Client, namespace: str, store: ObjectStore, now: datetime) -> list[Item]:
    """What the store of a namespace may forget."""

    def pushed(key: str) -> list[str]:
        return [f.sha256 for f in parse_push(store.read(key))]

    # The store first: what a push brings while we look is younger than the grace, or listed after it.
    items = list(store.items(""))
    return garbage(items, living(client.list(ModelVersion, namespace).items), pushed, now)
