"""What was written and must be seen before the next decision.

A cache runs behind the writes. Deciding on it too early doubles children and takes back statuses, so
after its own writes a key is not decided again until the informers have seen them:

* a create, an update or a status write: the informer of that kind has reached the resource version that
  the server answered with. Events of a kind arrive in order, so everything before it has been seen too;
* a delete has no such version: the cache shows the object gone, replaced, or marked as being deleted;
* a write that was refused for a conflict: the cache shows another version than the one it was decided on.

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
    overtaken: bool = False
    """The cluster is known to have moved on from that version, nobody knows where to."""


class Expectations:
    """Per object of one controller, the writes that its caches have not shown yet."""

    def __init__(self) -> None:
        self._open: dict[Key, list[Expectation]] = {}

    def written(self, owner: Key, obj: Resource, now: float) -> None:
        self._add(owner, Expectation(type(obj), obj.key, obj.uid, obj.metadata.resource_version, now))

    def deleted(self, owner: Key, obj: Resource, now: float) -> None:
        self._add(owner, Expectation(type(obj), obj.key, obj.uid, "", now))

    def overtaken(self, owner: Key, obj: Resource, now: float) -> None:
        """Somebody wrote to *obj* after it was seen as it is here."""
        version = obj.metadata.resource_version
        self._add(owner, Expectation(type(obj), obj.key, obj.uid, version, now, overtaken=True))

    def oldest(self, owner: Key, informers: Informers) -> float | None:
        """Since when something is outstanding; None when the caches show everything that was written."""
        # What no cache follows, such as a token, is not waited for.
        known = (e for e in self._open.get(owner, ()) if e.kind in informers)
        still = [e for e in known if not seen(e, informers[e.kind])]
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
    version = expectation.resource_version
    if version and not expectation.overtaken:
        return informer.reached(version)
    cached = informer.get(expectation.key)
    if cached is None or cached.uid != expectation.uid:
        return True
    if expectation.overtaken:
        return bool(cached.metadata.resource_version != version) and informer.reached(version)
    return cached.metadata.deletion_timestamp is not None
