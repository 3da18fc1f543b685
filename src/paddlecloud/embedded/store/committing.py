"""Brings writes to disk, in the order of their revisions: one alone at once, several by a thread together.

A write alone on a quick disk is committed by the loop itself: to hand it over and take it back costs more
than the disk does. Whoever writes beside others, or on a slow disk, is served by the thread, which commits
what has gathered as one transaction while the loop goes on. Nothing is reported before it is on disk.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .entries import Change, Entry
from .revisions import Busy, Revisions, Row

QUICK = 0.001  # seconds of a commit for which the loop may stand still
MOST = 512  # writes of one transaction


@dataclass(frozen=True, slots=True)
class Write:
    row: Row
    change: Change
    done: asyncio.Future[Entry]
    epoch: int


Batch = list[Write]


class Committing:
    def __init__(
        self,
        revisions: Revisions,
        committed: Callable[[Batch], None],
        failed: Callable[[Batch, Exception], None],
    ) -> None:
        self._revisions, self._committed, self._failed = revisions, committed, failed
        self._loop = asyncio.get_running_loop()
        self._gathered: Batch = []
        self._under_way = 0
        """Writes that the thread has and has not reported."""
        self._took = 0.0
        self._queue: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    @property
    def working(self) -> bool:
        """Whether somebody commits what is written: until it is closed."""
        return self._thread.is_alive()

    def add(self, write: Write) -> None:
        if not self._gathered:
            # Who writes in the same step of the loop goes along.
            self._loop.call_soon(self._go)
        self._gathered.append(write)

    async def close(self) -> None:
        """Returns when all that was added has been reported."""
        self._go()
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _go(self) -> None:
        batch, self._gathered = self._gathered, []
        if at_once(len(batch), self._under_way, self._took) and self._revisions.log_is_short:
            try:
                self._commit(batch, patient=False)
            except Busy:
                pass  # somebody else has the file: the thread has the time to wait
            except Exception as error:
                return self._failed(batch, error)
            else:
                return self._committed(batch)
        self._under_way += len(batch)
        for write in batch:
            self._queue.put(write)

    def _commit(self, batch: Batch, patient: bool) -> None:
        began = time.perf_counter()
        try:
            self._revisions.append((write.row for write in batch), patient)
        finally:
            self._took = time.perf_counter() - began

    def _work(self) -> None:
        refused = -1
        while (first := self._queue.get()) is not None:
            batch, stop = self._following(first)
            try:
                if first.epoch == refused:
                    raise RuntimeError("an earlier write failed")
                self._commit(batch, patient=True)
            except Exception as error:
                # Later writes may build on the one that failed: the whole epoch is refused.
                refused = first.epoch
                self._report(self._failed, batch, error)
            else:
                self._report(self._committed, batch)
                self._revisions.shorten_log()
            if stop:
                return

    def _following(self, first: Write) -> tuple[Batch, bool]:
        """All that waits, and whether that was the last."""
        batch = [first]
        while len(batch) < MOST:
            try:
                more = self._queue.get_nowait()
            except queue.Empty:
                break
            if more is None:
                return batch, True
            batch.append(more)
        return batch, False

    def _report(self, report: Callable[..., None], batch: Batch, *why: Exception) -> None:
        def reported() -> None:
            self._under_way -= len(batch)
            report(batch, *why)

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(reported)


def at_once(writes: int, under_way: int, took: float) -> bool:
    """Whether the loop commits by itself what has gathered; *took*: seconds of the last commit."""
    return writes == 1 and not under_way and took < QUICK
