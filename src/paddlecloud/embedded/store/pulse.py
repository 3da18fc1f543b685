"""Whether the store still does its work, found out by doing it: a row is read, a row is written to disk.

Nobody has to ask often and anybody may: who asks while a write is tried, or a moment after, shares its end.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable

from ...errors import Unavailable
from .soundness import refusal
from .store import Store

FRESH = 1.0  # seconds for which the end of a trial answers everybody
RECENT = 10.0  # seconds for which an object that was not kept counts, unless another one was kept since
PATIENCE = 2.0  # seconds after which a store that has not written counts as one that cannot


class Pulse:
    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._trial: asyncio.Task[None] | None = None
        self._begun = 0.0

    @property
    def ended(self) -> bool:
        """The store is closed or about to be: what is written now is kept by nobody."""
        return not self._store.working

    def check_reading(self) -> None:
        """Raises `Unavailable` when the table cannot be read."""
        try:
            self._store.revisions.compacted()
        except sqlite3.Error as error:
            raise Unavailable(f"the store cannot be read: {error}") from error

    async def check_writing(self) -> None:
        """Raises `Unavailable` when a row does not reach the disk in time, or an object lately did not."""
        if (refused := self._store.refused) is not None and self._clock() - refused[0] < RECENT:
            # A row of a few bytes may find room where an object did not.
            raise refused[1]
        try:
            await asyncio.wait_for(asyncio.shield(self._tried()), PATIENCE)
        except TimeoutError as error:
            raise Unavailable(f"the store has not written for {PATIENCE:g} seconds") from error

    def _tried(self) -> asyncio.Task[None]:
        now = self._clock()
        if self._trial is None or (self._trial.done() and now - self._begun >= FRESH):
            self._trial, self._begun = asyncio.create_task(self._try()), now
            # Whoever asked may have gone before it failed.
            self._trial.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return self._trial

    async def _try(self) -> None:
        try:
            await asyncio.to_thread(self._store.revisions.beat)
        except sqlite3.Error as error:
            raise refusal(error) from error
