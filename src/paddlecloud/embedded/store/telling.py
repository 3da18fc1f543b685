"""Watchers hear of changes in rounds: all that became visible since the last one, each watcher in one go.

A round comes after the answers to those who wrote: nobody waits for the watchers of others. What gathers
during one and in the rest after it goes out as one piece in the next, which costs less. However many watch,
those who ask have two thirds of the loop.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from .entries import Change, Changes
from .watches import Watch

REST = 2.0  # times what the round before took


class Telling:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._rests_until = 0.0
        self._watches: dict[str, set[Watch]] = {}
        self._untold: list[Change] = []

    def add(self, watch: Watch) -> None:
        self._watches.setdefault(watch.resource, set()).add(watch)

    def remove(self, watch: Watch) -> None:
        self._watches.get(watch.resource, set()).discard(watch)

    def watches(self) -> list[Watch]:
        return [watch for watches in self._watches.values() for watch in watches]

    def changed(self, changes: list[Change]) -> None:
        """These are visible now; their answers must be in line before."""
        if not self._untold:
            if (rest := self._rests_until - monotonic()) > 0:
                self._loop.call_later(rest, self.tell)
            else:
                # Two steps of the loop: in the first one the answers are written.
                self._loop.call_soon(self._loop.call_soon, self.tell)
        self._untold += changes

    def tell(self) -> None:
        """Tell what is not yet told."""
        began = monotonic()
        of_resources: dict[str, Changes] = {}
        for change in self._untold:
            of_resources.setdefault(change.entry.place.resource, Changes()).append(change)
        self._untold = []
        for resource, changes in of_resources.items():
            first, last = changes[0].revision, changes[-1].revision
            for watch in tuple(self._watches.get(resource, ())):
                # Most have a listener and have seen none of these: a hundred of them are told from here.
                if watch.listener is not None and watch.seen < first:
                    watch.seen = last
                    watch.listener(changes)
                else:
                    watch.tell(changes)
        ended = monotonic()
        self._rests_until = ended + REST * (ended - began)
