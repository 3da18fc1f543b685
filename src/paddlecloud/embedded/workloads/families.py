"""Who is there and who owns whom, kept up change by change, and whose fate may be another since.

The fate of an object hangs on itself, on its owners, and, when it is being deleted, on its dependents. So a
change concerns these and nobody else: what one change costs does not grow with what there is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...api.meta import Resource


def bonds(obj: Resource) -> tuple[Any, ...]:
    """What of an object the fate of others depends on."""
    metadata = obj.metadata
    return metadata.uid, metadata.deletion_timestamp, metadata.finalizers, metadata.owner_references


class Families:
    """All objects by uid, as they were last told of."""

    def __init__(self, objects: Iterable[Resource] = ()) -> None:
        self._there: dict[str, Resource] = {}
        # Dictionaries as sets that keep their order: what is done follows from what was told alone.
        self._dependents: dict[str, dict[str, None]] = {}
        self._concerned: dict[str, None] = {}
        for obj in objects:
            self.change(None, obj)

    def find(self, uid: str) -> Resource | None:
        return self._there.get(uid)

    def everybody(self) -> list[Resource]:
        return list(self._there.values())

    def dependents(self, uid: str) -> list[Resource]:
        return [self._there[one] for one in self._dependents.get(uid, ())]

    def change(self, old: Resource | None, new: Resource | None) -> bool:
        """Take in what an informer tells; whether there is anybody to look at."""
        if old is not None and (new is None or new.uid != old.uid):
            self._remove(old.uid)
        if new is not None:
            self._put(new)
        return bool(self._concerned)

    def concern(self, uids: Iterable[str]) -> None:
        """Look at these again."""
        for uid in uids:
            self._concerned[uid] = None

    def concerned(self) -> list[Resource]:
        """Those whose fate may have changed since they were last asked for; they are not told again."""
        found = [self._there[uid] for uid in self._concerned if uid in self._there]
        self._concerned = {}
        return found

    def _put(self, new: Resource) -> None:
        before = self._there.get(new.uid)
        self._there[new.uid] = new
        if before is not None and bonds(before) == bonds(new):
            return
        if before is not None:
            self._part(before)
        for owner in new.metadata.owner_references:
            self._dependents.setdefault(owner.uid, {})[new.uid] = None
        self._touch(new)

    def _remove(self, uid: str) -> None:
        before = self._there.pop(uid, None)
        if before is not None:
            self._part(before)
            self._touch(before)

    def _part(self, obj: Resource) -> None:
        """It has no owners any more, and they have to know."""
        for owner in obj.metadata.owner_references:
            if siblings := self._dependents.get(owner.uid):
                siblings.pop(obj.uid, None)
                if not siblings:
                    del self._dependents[owner.uid]
        self.concern(owner.uid for owner in obj.metadata.owner_references)

    def _touch(self, obj: Resource) -> None:
        self.concern((obj.uid, *self._dependents.get(obj.uid, ())))
        self.concern(owner.uid for owner in obj.metadata.owner_references)
