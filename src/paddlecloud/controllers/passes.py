"""One pass over one object: look, decide, write — and when to look next.

A pass decides on what the cluster is, never on less than it has itself written (see `expectations`).
An object with nothing to change costs no write.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..api.meta import Key, Resource
from ..cluster.client import Client
from ..errors import Conflict
from .contract import Controller, Decision, Note, identity, plan
from .events import record
from .expectations import Expectations, Informers
from .ownership import placed
from .snapshots import Around, cached_children, live_children, look
from .writing import Writes

CONFLICT_PAUSE = 0.1
REST = 9.0
"""Times what deciding took: an object with a thousand children that all move takes a tenth of a core."""
NEGLIGIBLE = 0.001


def utc_now() -> datetime:
    # Kubernetes keeps times in whole seconds; with more, a status would differ from what was stored.
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class Times:
    """Time and chance, as arguments."""

    now: Callable[[], datetime] = utc_now
    clock: Callable[[], float] = time.monotonic
    luck: Callable[[], float] = random.random
    patience: float = 5.0
    """Seconds a cache may lag behind our writes before the cluster is read directly."""


class Passes:
    """The passes of one controller; the caller never runs two for one key at the same time."""

    def __init__(self, controller: Controller, client: Client, informers: Informers, times: Times) -> None:
        self._controller, self._client = controller, client
        self._informers, self._times = informers, times
        self._expected = Expectations()
        self._refused: dict[Key, tuple[str, ...]] = {}
        self._said: dict[Key, tuple[Note, ...]] = {}

    async def sync(self, key: Key) -> float | None:
        """Look, decide, write once; the seconds until the next look, if time alone could change anything.

        Raises the first error of a write that failed, after all others have been tried.
        """
        cached = self._informers[self._controller.kind].get(key)
        if cached is None:
            self._expected.forget(key)
            self._refused.pop(key, None)
            self._said.pop(key, None)
            return None
        outstanding = self._expected.oldest(key, self._informers)
        if outstanding is None:
            return await self._decide(cached, cached_children(cached, self._controller.owns, self._informers))
        waited = self._times.clock() - outstanding
        if waited < self._times.patience:
            return self._times.patience - waited
        obj = await self._client.find(self._controller.kind, *key)
        if obj is None:
            return None
        return await self._decide(obj, await live_children(obj, self._controller.owns, self._client))

    async def _decide(self, obj: Resource, children: list[Resource]) -> float | None:
        controller = self._controller
        if obj.metadata.deletion_timestamp is not None and not controller.while_deleting:
            return None
        now = self._times.now()
        around = Around(obj, children, now, self._refused.get(obj.key, ()))
        seen = await look(controller, around, self._informers, self._client)
        began = self._times.clock()
        decision = controller.reconcile(obj, seen)
        decision = replace(decision, children=tuple(placed(c, obj) for c in decision.children))
        took = self._times.clock() - began
        writes = Writes(controller, self._client, obj, self._expected, self._times.clock())
        try:
            told = await self._write(writes, decision, seen.children)
        except Conflict:
            return CONFLICT_PAUSE
        finally:
            self._remember(obj.key, writes.refused)
        component = controller.component or f"paddlecloud-{controller.name}"
        before = self._said.pop(obj.key, ())
        if decision.asides:
            self._said[obj.key] = decision.asides
        asides = (n for n in decision.asides if n not in before)
        for note in (*writes.notes, *(decision.notes if told else ()), *asides):
            await record(self._client, obj, note, component, now)
        if took > NEGLIGIBLE:
            # What wakes the key meanwhile is seen at once afterwards.
            await asyncio.sleep(REST * took)
        return outcome(writes, decision)

    def _remember(self, key: Key, refused: list[str]) -> None:
        if refused:
            self._refused[key] = tuple(refused)
        else:
            self._refused.pop(key, None)

    async def _write(self, writes: Writes, decision: Decision, children: tuple[Resource, ...]) -> bool:
        """Everything decided, in an order that may stop anywhere; whether the notes are to be told."""
        await writes.add_finalizers(decision.finalizers)
        await writes.needs(tuple(placed(n, writes.owner) for n in decision.needs))
        reasons = {identity(r.child): r.reason for r in decision.removals}
        await writes.children(plan(children, decision), reasons)
        await writes.changes(decision.changes)
        stored = await writes.status(decision.status)
        # A settled object repeats its notes at every look; they are news only together with a write.
        told = stored if writes.owner.has_status and decision.status is not None else writes.made > 0
        await writes.remove_finalizers(decision.finalizers)
        await writes.end(decision.ending)
        return told


def outcome(writes: Writes, decision: Decision) -> float | None:
    """When to look again; a conflict only means that the cluster has moved on, so: soon."""
    for error in writes.errors:
        if not isinstance(error, Conflict):
            raise error
    dates = (decision.check_again, writes.again, CONFLICT_PAUSE if writes.errors else None)
    return min((d for d in dates if d is not None), default=None)
