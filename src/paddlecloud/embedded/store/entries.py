"""What the store keeps: an object at a place, at a revision.

The bytes are the object's JSON with its own `resourceVersion` inside, so that reading needs no work.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import orjson


class Place(NamedTuple):
    """Where an object is kept; `resource` is `group/plural`, with an empty group for the core kinds."""

    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    place: Place
    revision: int
    value: bytes
    _kept: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    def kept(self, what: str) -> Any:
        """What a reader worked out of the value and kept here; None when nobody has yet."""
        return self._kept and self._kept.get(what)

    def keep(self, what: str, found: object) -> None:
        """The value never changes, so what follows from it stays right."""
        if self._kept is None:
            # Most entries are never asked for anything: they carry no dictionary.
            object.__setattr__(self, "_kept", {})
        assert self._kept is not None
        self._kept[what] = found

    @property
    def body(self) -> dict[str, Any]:
        """The object for those who only read it, parsed once; for the few that every write looks at."""
        found: dict[str, Any] | None = self.kept("body")
        if found is None:
            found = self.load()
            self.keep("body", found)
        return found

    def load(self) -> dict[str, Any]:
        """A fresh copy of the object, the caller's to change."""
        body: dict[str, Any] = orjson.loads(self.value)
        return body


@dataclass(frozen=True)
class Change:
    """One revision: what is there now, and what was there before it.

    A hundred watchers ask the same of one change: what was worked out once is kept with it.
    """

    entry: Entry
    before: bytes | None
    deleted: bool
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def revision(self) -> int:
        return self.entry.revision

    def bare(self) -> Change:
        """The same change with nothing worked out of it: what is kept for later costs its bytes alone."""
        return Change(self.entry, self.before, self.deleted)

    @property
    def created(self) -> bool:
        return self.before is None and not self.deleted

    @cached_property
    def body(self) -> dict[str, Any]:
        """The object as it is now; shared, not to be changed."""
        return self.entry.load()

    @cached_property
    def body_before(self) -> dict[str, Any]:
        return orjson.loads(self.before) if self.before is not None else {}


class Changes(list[Change]):
    """Changes that became visible together, and what was made of all of them for one kind of watcher."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        super().__init__(changes)
        self.kept: dict[Any, bytes] = {}
