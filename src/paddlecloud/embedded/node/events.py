"""Events of pods: what the node did and what it met, each told once and then counted.

An event is worth less than the deed it tells of: nobody waits for its writing who does not ask to (`told`),
and one that cannot be written is dropped with a line in the log. Those of one pod are written in their order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from ... import log
from ...api.core import Event, Pod
from ...errors import PaddleCloudError
from . import roles
from .podstatus import timestamp
from .upstream import Upstream

LONGEST = 1024
REMEMBERED = 4096
MOST_WAITING = 32
"""Events of one pod that wait to be written; whoever has more to say waits, too."""


class Recorder:
    def __init__(self, upstream: Upstream, now: Callable[[], float]) -> None:
        self._upstream, self._now = upstream, now
        self._told: dict[tuple[str, ...], Event] = {}
        self._waiting: dict[str, deque[Event]] = {}
        self._writers: dict[str, asyncio.Task[None]] = {}
        """By the uids of pods, while there is something to write."""
        self._log = log.logger("node.events")

    async def tell(self, pod: Pod, reason: str, message: str, container: str = "") -> None:
        await self._write(pod, "Normal", reason, message, container)

    async def warn(self, pod: Pod, reason: str, message: str, container: str = "") -> None:
        await self._write(pod, "Warning", reason, message, container)

    async def told(self, pod: Pod) -> None:
        """Return once all that was said of *pod* is written."""
        if writer := self._writers.get(pod.uid):
            await asyncio.wait([writer])

    async def _write(self, pod: Pod, kind: str, reason: str, message: str, container: str) -> None:
        identity = (pod.uid, reason, message, container)
        event = self._counted(identity) or self._new(pod, kind, reason, message, container)
        while len(self._told) >= REMEMBERED:
            self._told.pop(next(iter(self._told)))
        self._told[identity] = event
        waiting = self._waiting.setdefault(pod.uid, deque())
        waiting.append(event)
        if pod.uid not in self._writers:
            self._writers[pod.uid] = asyncio.create_task(self._write_out(pod, waiting))
        if len(waiting) >= MOST_WAITING:
            await self.told(pod)

    async def _write_out(self, pod: Pod, waiting: deque[Event]) -> None:
        try:
            while waiting:
                event = waiting.popleft()
                try:
                    await self._upstream.record(event)
                except PaddleCloudError as error:
                    self._log.warning("event %s of %s lost: %s", event.reason, pod.key, error.message)
        finally:
            del self._waiting[pod.uid], self._writers[pod.uid]

    def _counted(self, identity: tuple[str, ...]) -> Event | None:
        before = self._told.pop(identity, None)
        if before is None:
            return None
        return before.but(count=before.count + 1, last_timestamp=timestamp(self._now()))

    def _new(self, pod: Pod, kind: str, reason: str, message: str, container: str) -> Event:
        now = self._now()
        involved: dict[str, Any] = pod.reference()
        if container:
            involved["fieldPath"] = f"spec.{roles.field(pod, container)}{{{container}}}"
        return Event.read(
            {
                "metadata": {"name": f"{pod.name}.{int(now * 1e9):x}", "namespace": pod.namespace},
                "involvedObject": involved,
                "reason": reason,
                "message": message[:LONGEST],
                "type": kind,
                "count": 1,
                "source": {"component": "kubelet", "host": pod.node},
                "firstTimestamp": timestamp(now),
                "lastTimestamp": timestamp(now),
            }
        )
