"""What was written and must be seen before the next decision.

A cache runs behind the writes. Deciding on it too early doubles children and takes back statuses, so
after its own writes a key is not decided again until the informers have seen them:

* a create, an update or a status write: the informer of that kind has reached the resource version that
  the server answered with. Events of a kind arrive in order, so everything before it has been seen too;
* a delete has no such version: the cache shows the object gone, replaced, or marked as being deleted.

Nothing polls: the event that fulfils an expectation also wakes the key. Counting events, as others do,
breaks when a watch is cut and events are merged into a list; versions do not. A write whose answer was
lost leaves no expectation, and is caught by the deterministic names of children. If a cache does not
catch up in time, the caller reads the cluster itself, and goes on doing so until it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..api.meta import Key, Resource
from ..cluster.informer import Informer

Informers = Mapping[type[Resource], Informer[Any]]


class Expectation(NamedTuple):
    kind: type[Resource]
    key: Key
    uid: str
    resource_version: str
    """Empty for a delete."""
    since: float


class Expectations:
    """Per object of one controller, the writes that its caches have not shown yet."""

    def __init__(self) -> None:
        self._open: dict[Key, list[Expectation]] = {}

    def written(self, owner: Key, obj: Resource, now: float) -> None:
        self._add(owner, Expectation(type(obj), obj.key, obj.uid, obj.metadata.resource_version, now))

    def deleted(self, owner: Key, obj: Resource, now: float) -> None:
        self._add(owner, Expectation(type(obj), obj.key, obj.uid, "", now))

    def oldest(self, owner: Key, informers: Informers) -> float | None:
        """Since when something is outstanding; None when the caches show everything that was written."""
        still = [e for e in self._open.get(owner, ()) if not seen(e, informers[e.kind])]
        if not still:
            self.forget(owner)
            return None
        self._open[owner] = still
        return still[0].since

    def forget(self, owner: Key) -> None:
        self._open.pop(owner, None)

    def _add(self, owner: Key, expectation: Expectation) -> None:
        self._open.setdefault(owner, []).append(expectation)


def seen(expectation: Expectation, informer: Informer[Any]) -> bool:
    if expectation.resource_version:
        return informer.reached(expectation.resource_version)
    cached = informer.get(expectation.key)
    return cached is None or cached.uid != expectation.uid or cached.metadata.deletion_timestamp is not None
