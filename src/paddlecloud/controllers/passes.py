"""One pass over one object: look, decide, write — and when to look next.

A pass decides on what the cluster is, never on less than it has itself written (see `expectations`).
An object with nothing to change costs no write.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..api.meta import Key, Resource
from ..cluster.client import Client
from ..errors import Conflict, PaddleCloudError
from .calls import make_calls
from .contract import Controller, Decision, HttpCall, Note, identity, plan
from .events import Events
from .expectations import Expectations, Informers
from .keyring import Keyring
from .ownership import placed
from .snapshots import Around, cached_children, live_children, look
from .writing import Writes

CONFLICT_PAUSE = 0.1
REST = 9.0
"""Times what deciding took: an object with a thousand children that all move takes a tenth of a core."""
NEGLIGIBLE = 0.001
GATHERING = 1.0
"""Seconds in which counts that change one after the other become one write."""
GLANCES_A_SECOND = 1.5
"""For all objects of a controller together: a hundredth of a core, however many there are."""
MISTAKE = (
    "a mistake of PaddleCloud keeps it from going on with this object: {}; it is looked at again when "
    "something changes and from time to time; the log of the controllers tells where, please report it"
)


def new_token() -> str:
    return secrets.token_urlsafe(32)


def utc_now() -> datetime:
    # Kubernetes keeps times in whole seconds; with more, a status would differ from what was stored.
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class Times:
    """Time and chance, as arguments."""

    now: Callable[[], datetime] = utc_now
    clock: Callable[[], float] = time.monotonic
    effort: Callable[[], float] = time.thread_time
    """Seconds of a processor used so far: on a busy machine waiting for one is no effort."""
    luck: Callable[[], float] = random.random
    token: Callable[[], str] = new_token
    patience: float = 5.0
    """Seconds a cache may lag behind our writes before the cluster is read directly."""
    logs_kept: bool = False
    """Whether the cluster itself keeps the logs of pods that are gone, for some time."""


class Passes:
    """The passes of one controller; the caller never runs two for one key at the same time."""

    def __init__(self, controller: Controller, client: Client, informers: Informers, times: Times) -> None:
        self._controller, self._client = controller, client
        self._informers, self._times = informers, times
        self._events = Events(client, controller.component or f"paddlecloud-{controller.name}")
        self._expected = Expectations()
        self._refused: dict[Key, tuple[str, ...]] = {}
        self._said: dict[Key, tuple[Note, ...]] = {}
        self._keyring = Keyring(client)
        self._rebuffs: dict[Key, dict[HttpCall, str]] = {}
        self._glances: dict[Key, float] = {}
        """When the objects that are glanced at from time to time have their next turn."""
        self._gathering: dict[Key, float] = {}
        """Since when the stored status of objects lacks counts."""
        self._tired: dict[Key, float] = {}
        """How long objects that took long to decide on, or are in no hurry, are left alone."""
        self._mistakes: dict[Key, str] = {}
        """What decisions stumbled over, told to the objects concerned."""

    async def sync(self, key: Key) -> float | None:
        """Look, decide, write once; the seconds until the next look, if time alone could change anything.

        Raises the first error of a write that failed, after all others have been tried.
        """
        cached = self._informers[self._controller.kind].get(key)
        if cached is None:
            self._expected.forget(key)
            self._refused.pop(key, None)
            self._said.pop(key, None)
            self._glances.pop(key, None)
            self._gathering.pop(key, None)
            self._rebuffs.pop(key, None)
            self._mistakes.pop(key, None)
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

    async def mistaken(self, key: Key, words: str) -> bool:
        """Tell an object that nothing could be decided for it, and over what; whether that was news."""
        obj = self._informers[self._controller.kind].get(key)
        if obj is None or self._mistakes.get(key) == words:
            return False
        self._mistakes[key] = words
        note = Note("Warning", "DecisionFailed", MISTAKE.format(words))
        await self._events.record(obj, note, self._times.now())
        return True

    def rest(self, key: Key) -> float:
        """Seconds after its last pass in which a key is not looked at again, whatever wakes it."""
        return self._tired.pop(key, 0.0)

    async def _decide(self, obj: Resource, children: list[Resource]) -> float | None:
        controller = self._controller
        if obj.metadata.deletion_timestamp is not None and not controller.while_deleting:
            return None
        now = self._times.now()
        refused = self._refused.get(obj.key, ())
        turn = self._glances.get(obj.key)
        glance = turn is not None and self._times.clock() >= turn
        rebuffs = self._rebuffs.get(obj.key, {})
        around = Around(obj, children, now, refused, self._times.logs_kept, glance, rebuffs)
        seen = await look(controller, around, self._informers, self._client, self._keyring)
        began = self._times.effort()
        decision = controller.reconcile(obj, seen)
        decision = replace(decision, children=tuple(placed(c, obj) for c in decision.children))
        took = self._times.effort() - began
        self._mistakes.pop(obj.key, None)
        writes = Writes(controller, self._client, obj, self._expected, self._times.clock())
        try:
            told = await self._write(writes, decision, seen.children)
        except Conflict:
            return CONFLICT_PAUSE
        finally:
            self._remember(obj.key, writes.refused)
        before = self._said.pop(obj.key, ())
        if decision.asides:
            self._said[obj.key] = decision.asides
        asides = (n for n in decision.asides if n not in before)
        for note in (*writes.notes, *(decision.notes if told else ()), *asides):
            await self._events.record(obj, note, now)
        if rest := max(REST * took if took > NEGLIGIBLE else 0.0, decision.unhurried):
            self._tired[obj.key] = rest
        if glance:
            del self._glances[obj.key]
        again = outcome(writes, self._next_look(obj.key, decision))
        # What could not be made or said is part of what is decided on, and told, next.
        news = set(writes.refused) - set(around.refused) or self._rebuffs.get(obj.key, {}) != rebuffs
        return CONFLICT_PAUSE if news else again

    def _next_look(self, key: Key, decision: Decision) -> float | None:
        """When time brings it back; all who want to be glanced at share what that may cost."""
        if decision.glance is None:
            self._glances.pop(key, None)
            return decision.check_again
        now = self._times.clock()
        if key not in self._glances:
            self._glances[key] = now + max(decision.glance, (len(self._glances) + 1) / GLANCES_A_SECOND)
        glance = self._glances[key] - now
        return glance if decision.check_again is None else min(glance, decision.check_again)

    def _remember(self, key: Key, refused: list[str]) -> None:
        if refused:
            self._refused[key] = tuple(refused)
        else:
            self._refused.pop(key, None)

    async def _write(self, writes: Writes, decision: Decision, children: tuple[Resource, ...]) -> bool:
        """Everything decided, in an order that may stop anywhere; whether the notes are to be told."""
        await writes.add_finalizers(decision.finalizers)
        await writes.needs(tuple(placed(n, writes.owner) for n in decision.needs))
        await writes.tokens(decision.tokens, self._times.token)
        reasons = {identity(r.child): r.reason for r in decision.removals}
        await writes.children(plan(children, decision), reasons)
        await writes.needs(tuple(placed(n, writes.owner) for n in decision.afterwards))
        await writes.changes(decision.changes)
        if not await self._call(writes, decision):
            return False
        stored = await self._write_status(writes, decision)
        # A settled object repeats its notes at every look; they are news only together with a write.
        told = stored if writes.owner.has_status and decision.status is not None else writes.made > 0
        await writes.remove_finalizers(decision.finalizers)
        await writes.end(decision.ending)
        return told

    async def _write_status(self, writes: Writes, decision: Decision) -> bool:
        key, now = writes.owner.key, self._times.clock()
        patch = writes.status_patch(decision.status)
        if not decision.counts_only or not patch:
            self._gathering.pop(key, None)
            return await writes.status(patch)
        left = self._gathering.setdefault(key, now) + GATHERING - now
        if left > 0:
            writes.look_again(left)
            return False
        del self._gathering[key]
        return await writes.status(patch)

    async def _call(self, writes: Writes, decision: Decision) -> bool:
        """Whether everything that was to be said was heard; what was refused is remembered."""
        key = writes.owner.key
        if not decision.calls:
            self._rebuffs.pop(key, None)
            return True
        try:
            rebuffs = await make_calls(self._client, self._keyring, decision.calls)
        except PaddleCloudError as error:
            writes.errors.append(error)
            return False
        self._rebuffs[key] = {**self._rebuffs.get(key, {}), **rebuffs}
        return True


def outcome(writes: Writes, planned: float | None) -> float | None:
    """When to look again; a conflict only means that the cluster has moved on, so: soon."""
    for error in writes.errors:
        if not isinstance(error, Conflict):
            raise error
    dates = (planned, writes.again, CONFLICT_PAUSE if writes.errors else None)
    return min((d for d in dates if d is not None), default=None)
