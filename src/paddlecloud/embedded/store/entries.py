"""What the store keeps: an object at a place, at a revision.

The bytes are the object's JSON with its own `resourceVersion` inside, so that reading needs no work.
"""

from __future__ import annotations

from dataclasses import dataclass
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

    def load(self) -> dict[str, Any]:
        body: dict[str, Any] = orjson.loads(self.value)
        return body


@dataclass(frozen=True, slots=True)
class Change:
    """One revision: what is there now, and what was there before it."""

    entry: Entry
    before: bytes | None
    deleted: bool

    @property
    def revision(self) -> int:
        return self.entry.revision

    @property
    def created(self) -> bool:
        return self.before is None and not self.deleted
