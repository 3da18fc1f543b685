"""How the sources of a set are by now: listed from time to time, while there is nothing else to do.

A listing is compared with what the last sync from there brought; no content is read. It takes at most a small
share of the time, however large the source is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import PaddleCloudError
from .engine import Cancelled, Changes, Run
from .operations import Operation

EVERY = 300.0
SHARE = 20.0
"""A listing is followed by a pause that is so many times as long."""
Compare = Callable[[dict[str, Any], Run], Changes | None]


@dataclass(frozen=True)
class SourceSight:
    """How a source was when it was last listed."""

    state: str = ""
    """Same, Changed or Unreachable; empty where it was not listed yet, or never is."""
    message: str = ""


class SourceWatch:
    """When to list next, and what was found; *every* 0: never."""

    def __init__(
        self, compare: Compare, every: float = EVERY, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.sight = SourceSight()
        self._compare, self._every, self._clock = compare, every, clock
        self._due = clock()

    def left(self) -> float | None:
        """Seconds until the next listing; None for never."""
        return max(0.0, self._due - self._clock()) if self._every else None

    def synced(self) -> None:
        """The source was just listed, and all of it was brought."""
        if self._every:
            self.sight, self._due = SourceSight("Same"), self._clock() + self._every

    def look(self, syncs: Iterable[Operation], run: Run) -> None:
        """List the sources of these *syncs*. Raises `Cancelled` when there is something else to do."""
        began = self._clock()
        try:
            self.sight = sight([self._compare(op.options, run) for op in syncs])
        except Cancelled:
            raise
        except PaddleCloudError as error:
            self.sight = SourceSight("Unreachable", f"the source cannot be listed: {error.message}")
        finally:
            self._due = self._clock() + max(self._every, SHARE * (self._clock() - began))


def sight(found: Iterable[Changes | None]) -> SourceSight:
    told = [changes for changes in found if changes is not None]
    if not told:
        return SourceSight()
    if not any(told):
        return SourceSight("Same")
    sums = {
        "new": sum(c.new for c in told),
        "changed": sum(c.changed for c in told),
        "gone": sum(c.gone for c in told),
    }
    what = ", ".join(f"{number} {how}" for how, number in sums.items() if number)
    example = next((c.example for c in told if c.example), "")
    shown = f" ({example!r})" if example else ""
    return SourceSight(
        "Changed", f"files at the source since the sync: {what}{shown}; sync again to have them"
    )


def watched(operations: Iterable[Operation]) -> list[Operation]:
    """Of the syncs that succeeded, oldest first, the last from each source to each place."""
    found: dict[tuple[object, object], Operation] = {}
    for op in operations:
        if not (op.options.get("dry") or op.options.get("delete-src")):
            found[op.options.get("source"), op.options.get("destination") or ""] = op
    return list(found.values())
