"""Runs controllers over one client: one informer a kind for all of them, one queue and some workers each.

The only I/O of controllers starts here. Level-triggered: an event only says which object to look at;
what is done follows from the caches alone, so events may be lost, merged or repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .. import log
from ..api.meta import Key, Resource
from ..cluster.client import Client
from ..cluster.informer import Informer
from ..errors import PaddleCloudError
from .contract import Controller
from .expectations import Informers
from .health import Health
from .metrics import Metrics
from .ownership import owner_key, owner_uid
from .passes import Passes, Times
from .queue import Queue
from .relations import Relations
from .remembering import EVERYWHERE, Remembered

LONGEST_AFTER_MISTAKES = 600.0
"""Seconds between two looks at an object over which a decision stumbles, unless something changes."""


@dataclass(frozen=True)
class Options:
    namespace: str = ""
    """Only objects in this namespace; empty: in all of them."""
    workers: int = 8
    """Objects a controller looks at in parallel."""
    times: Times = field(default_factory=Times)
    metrics: Metrics = field(default_factory=Metrics)
    remembered: Remembered = field(default_factory=lambda: EVERYWHERE)
    """What is kept in memory of objects of some kinds."""
    synced: Callable[[], None] = lambda: None
    """Called once, when all caches have been filled."""


async def run(
    controllers: Iterable[Controller],
    client: Client,
    options: Options | None = None,
    health: Health | None = None,
) -> None:
    """Run *controllers* until cancelled; *health* tells how they do."""
    await Runtime(tuple(controllers), client, options or Options(), health or Health()).run()


class Runtime:
    """The informers and loops of a set of controllers; `informers` may be used by others beside them."""

    def __init__(
        self, controllers: tuple[Controller, ...], client: Client, options: Options, health: Health
    ) -> None:
        self.health, self._client = health, client
        self.informers: dict[type[Resource], Informer[Any]] = {
            kind: Informer(
                client,
                kind,
                options.namespace,
                owner_of=owner_uid,
                luck=options.times.luck,
                remembered=options.remembered.get(kind),
            )
            for kind in dict.fromkeys(kind for c in controllers for kind in (c.kind, *c.owns, *c.reads))
        }
        self._loops = [
            Loop(c, Passes(c, client, self.informers, options.times), options, health) for c in controllers
        ]
        self._workers, self._synced = options.workers, options.synced

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for informer in self.informers.values():
                tasks.create_task(informer.run())
            for informer in self.informers.values():
                await informer.synced.wait()
            self.health.synced = True
            self._synced()
            for loop in self._loops:
                loop.subscribe(self.informers)
                for _ in range(self._workers):
                    tasks.create_task(loop.work())
            await self._client.warm()

    def resting(self, seconds: float) -> bool:
        """Whether all is looked at, and nothing will be within that time unless something happens."""
        return self.health.synced and all(loop.resting(seconds) for loop in self._loops)


class Loop:
    """One controller: what wakes its objects, and the workers that look at them."""

    def __init__(self, controller: Controller, passes: Passes, options: Options, health: Health) -> None:
        self._controller, self._passes, self._health = controller, passes, health
        self._metrics, self._clock = options.metrics, options.times.clock
        self._queue = Queue(options.times.clock, options.times.luck)
        self._relations = Relations()

    def subscribe(self, informers: Informers) -> None:
        controller = self._controller
        informers[controller.kind].subscribe(self._object_changed)
        for kind in dict.fromkeys(controller.owns):
            informers[kind].subscribe(self._wakes(self._owners))
        for kind in dict.fromkeys(controller.reads):
            informers[kind].subscribe(self._wakes(self._relations.readers))

    async def work(self) -> None:
        while True:
            key = await self._queue.take()
            self._metrics.waiting(self._controller.name, len(self._queue))
            again: float | None = None
            began, failed = self._clock(), True
            try:
                again = await self._passes.sync(key)
            except PaddleCloudError as error:
                self._failed(key, error.message)
                self._log(key).warning("not done, will try again: %s", error.message)
            except Exception as error:
                await self._mistaken(key, error)
            else:
                failed = False
                self._health.succeeded(self._controller.name, key)
                self._queue.succeeded(key, again, rest=self._passes.rest(key))
            self._metrics.looked(self._controller.name, self._clock() - began, failed=failed)

    def resting(self, seconds: float) -> bool:
        return self._queue.resting(seconds)

    def _failed(self, key: Key, message: str) -> None:
        self._health.failed(self._controller.name, key, message)
        self._queue.failed(key)

    async def _mistaken(self, key: Key, error: Exception) -> None:
        """A mistake in one decision must not stop the work for all other objects.

        It is told once, to the object and in the log: every look would meet it again, so looks become rare.
        """
        words = f"{type(error).__name__}: {error}"
        self._health.failed(self._controller.name, key, words)
        self._queue.failed(key, longest=LONGEST_AFTER_MISTAKES)
        if await self._passes.mistaken(key, words):
            self._log(key).error("the decision failed", exc_info=error)

    def _object_changed(self, old: Resource | None, new: Resource | None) -> None:
        obj = new or old
        assert obj is not None
        self._relations.wants(obj.key, self._wishes(new) if new else ())
        self._queue.wake(obj.key)

    def _wishes(self, obj: Resource) -> Iterable[Any]:
        try:
            return self._controller.related(obj)
        except Exception:
            # The look at this object will meet the same mistake and report it.
            return ()

    def _wakes(
        self, concerned: Callable[[Resource], Iterable[Key]]
    ) -> Callable[[Resource | None, Resource | None], None]:
        def changed(old: Resource | None, new: Resource | None) -> None:
            # Both: a change of owner or labels concerns the one before and the one after.
            for obj in (old, new):
                for key in concerned(obj) if obj else ():
                    self._queue.wake(key)

        return changed

    def _owners(self, child: Resource) -> tuple[Key, ...]:
        key = owner_key(child, self._controller.kind)
        return (key,) if key else ()

    def _log(self, key: Key) -> log.ObjectLog:
        return log.for_object(f"controllers.{self._controller.name}", self._controller.kind.kind, *key)
