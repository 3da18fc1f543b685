"""The queue before one engine: requests wait here, go to a thread together, and get their own rows back.

A request whose client has gone is dropped before it costs anything. A batch that fails is tried one by one:
nobody is refused for what another one sent.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ..errors import ApiError, ServerError, TooManyRequests
from .batching import REMEMBERED, Hold, Rule, Waiting, decide, quick
from .engine import Engine
from .signature import Arrays

MOST_KINDS = 256
Outcome = list[Any] | Exception
Observe = Callable[[int], None]
"""Told the rows of every batch that was computed."""


class Ticket(NamedTuple):
    waiting: Waiting
    names: list[str]
    arrays: Arrays
    answer: asyncio.Future[list[Any]]


@dataclass
class Batcher:
    engine: Engine
    rule: Rule
    threads: Executor
    concurrent: int
    """Batches computed at a time."""
    observe: Observe
    longest_queue: int = 1024
    queue: list[Ticket] = field(default_factory=list)
    running: int = 0
    _woken: bool = False
    _recent: dict[tuple[Hashable, int], deque[float]] = field(default_factory=dict)

    async def infer(self, names: list[str], arrays: Arrays) -> list[Any]:
        """The outputs of *names*. Raises what the engine raised, `TooManyRequests` when too many wait."""
        if len(self.queue) >= self.longest_queue:
            raise TooManyRequests(f"{len(self.queue)} requests wait already: ask again later, or scale out")
        loop = asyncio.get_running_loop()
        kind, rows = sort(arrays)
        ticket = Ticket(Waiting(kind, rows, loop.time()), names, arrays, loop.create_future())
        self.queue.append(ticket)
        self._wake(loop)
        return await ticket.answer

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        # Looked at once the loop has read what has come in by now: what came together goes together.
        if not self._woken and self.running < self.concurrent:
            self._woken = True
            loop.call_soon(self._pump, loop)

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        self._woken = False
        self.queue = [t for t in self.queue if not t.answer.done()]
        while self.queue and self.running < self.concurrent:
            decision = decide([t.waiting for t in self.queue], loop.time(), self.rule)
            if isinstance(decision, Hold):
                loop.call_at(decision.until, self._wake, loop)
                return
            chosen = set(decision.positions)
            batch = [self.queue[p] for p in decision.positions]
            self.queue = [t for p, t in enumerate(self.queue) if p not in chosen]
            self._start(batch, loop)

    def _start(self, batch: list[Ticket], loop: asyncio.AbstractEventLoop) -> None:
        self.running += 1
        rows = sum(t.waiting.rows for t in batch)
        self.observe(rows)
        recent = self._times(batch[0].waiting.kind, rows)

        def work() -> list[Outcome]:
            began = time.perf_counter()
            outcomes = computed(self.engine, batch)
            recent.append(time.perf_counter() - began)
            return outcomes

        if quick(recent):
            self._deliver(batch, work(), loop)
        else:
            self.threads.submit(lambda: loop.call_soon_threadsafe(self._deliver, batch, work(), loop))

    def _times(self, kind: Hashable, rows: int) -> deque[float]:
        """How long the last batches of that kind and size took."""
        if len(self._recent) > MOST_KINDS:
            self._recent.clear()
        return self._recent.setdefault((kind, rows), deque(maxlen=REMEMBERED))

    def _deliver(self, batch: list[Ticket], outcomes: list[Outcome], loop: asyncio.AbstractEventLoop) -> None:
        self.running -= 1
        for ticket, outcome in zip(batch, outcomes, strict=True):
            if ticket.answer.done():
                continue
            if isinstance(outcome, Exception):
                ticket.answer.set_exception(outcome)
            else:
                ticket.answer.set_result(outcome)
        if self.queue:
            self._wake(loop)


def sort(arrays: Arrays) -> tuple[tuple[Any, ...], int]:
    """What an input can be stacked with, and how many rows it has."""
    kind: tuple[Any, ...] = tuple((array.dtype.char, array.shape[1:]) for array in arrays.values())
    sizes = {array.shape[0] if array.ndim else 0 for array in arrays.values()}
    if len(sizes) == 1:
        return kind, sizes.pop()
    # Inputs of different lengths fit no others: the model is to refuse them alone.
    return (*kind, id(arrays)), max(sizes, default=1)


def computed(engine: Engine, batch: list[Ticket]) -> list[Outcome]:
    """What each ticket gets: its rows, or its own error."""
    if len(batch) == 1:
        return [alone(engine, batch[0])]
    names = list(dict.fromkeys(name for ticket in batch for name in ticket.names))
    inputs = batch[0].arrays
    try:
        together = engine.run(names, {n: np.concatenate([t.arrays[n] for t in batch]) for n in inputs})
    except Exception:
        # Whatever it was, one request must not spoil the answers of the others: each is tried by itself.
        return [alone(engine, ticket) for ticket in batch]
    outputs = dict(zip(names, together, strict=True))
    outcomes: list[Outcome] = []
    begin = 0
    for ticket in batch:
        end = begin + ticket.waiting.rows
        outcomes.append([outputs[name][begin:end] for name in ticket.names])
        begin = end
    return outcomes


def alone(engine: Engine, ticket: Ticket) -> Outcome:
    try:
        return engine.run(ticket.names, ticket.arrays)
    except ApiError as error:
        return error
    except Exception as error:
        return ServerError(f"the model failed: {error}")
