"""What a store may forget: files that no living version lists and no fresh push may still want; pure.

Only what is older than a grace goes: a push brings its files first and is seen as a version later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from .keys import PARTS, PUSHES, blob_of, push_key, version_of
from .objects import Item

GRACE = timedelta(hours=24)


class Living(NamedTuple):
    """What is in use, as the cluster knows it."""

    files: frozenset[str]
    """Digests that versions list."""
    manifests: frozenset[tuple[str, str]]
    """Model and name of each version, and of its conversions."""
    pushes: frozenset[str]
    """Digests of the pushes whose versions are not Ready yet."""


def garbage(
    items: Iterable[Item], living: Living, pushed: Callable[[str], Iterable[str]], now: datetime
) -> list[Item]:
    """Of everything in the store, what may go; *pushed* gives the digests that a list of a push names."""
    every = list(items)
    old = {i.key for i in every if now - i.modified >= GRACE}
    pushes = [i.key for i in every if i.key.startswith(PUSHES)]
    awaited = {push_key(p) for p in living.pushes} | {p for p in pushes if p not in old}
    wanted = living.files | {sha256 for key in pushes if key in awaited for sha256 in pushed(key)}
    return [i for i in every if i.key in old - awaited and not in_use(i.key, living, wanted)]


def in_use(key: str, living: Living, wanted: frozenset[str]) -> bool:
    if sha256 := blob_of(key):
        return sha256 in wanted
    if version := version_of(key):
        return version in living.manifests
    # What a writer left that was cut off is nobody's; what is of no kind of ours is somebody else's.
    return not key.startswith((PUSHES, PARTS))
