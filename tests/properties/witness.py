"""A client that sees all a runtime writes and hears, and can disturb it.

    crash   after a write nothing more is sent and no answer comes back: the process was killed there
    late    from an event on, those of its kind are kept back
    lost    from an event on, those of its kind are swallowed; then the watch ends as one that is too old

It counts what a disturbance can be put after, so that nobody has to know beforehand what a controller does.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import orjson

from paddlecloud.api.meta import Key
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Kind, Labels, Request
from paddlecloud.cluster.watching import WatchEvent
from paddlecloud.errors import Expired


class Write(NamedTuple):
    method: str
    place: str
    """`pods/train-worker-0`, with the subresource if there is one."""


class EventPoint(NamedTuple):
    """The n-th event (from 1) of the kind with this plural."""

    plural: str
    number: int


@dataclass(frozen=True)
class Disturbance:
    crash_after: int = 0
    """The write (from 1) after which the process is gone; 0: never."""
    late: EventPoint | None = None
    lost: EventPoint | None = None

    def __str__(self) -> str:
        if self.crash_after:
            return f"a crash after write {self.crash_after}"
        if point := self.late or self.lost:
            return f"events of {point.plural} {'late' if self.late else 'lost'} from number {point.number} on"
        return "nothing"


CALM = Disturbance()


class Witness(Client):
    """Of one namespace; `writes` are those the server carried out, `heard` the events of every kind."""

    def __init__(self, access: Access, disturbance: Disturbance = CALM) -> None:
        super().__init__(access)
        self.writes: list[Write] = []
        self.heard: Counter[str] = Counter()
        self.crashed = asyncio.Event()
        self.holding = False
        """Whether events are kept from the runtime now."""
        self._disturbance = disturbance
        self._released = asyncio.Event()
        self._writing = asyncio.Lock()

    def revive(self) -> None:
        """The process is started again, and lives."""
        self.crashed.clear()
        self._disturbance = CALM

    def release(self) -> None:
        """What was kept back is heard, or found out by listing."""
        self._released.set()
        self.holding = False

    async def request(self, request: Request) -> dict[str, Any]:
        if request.method == "GET":
            return await self._carry_out(request)
        # One after the other: a crash leaves no write of which nobody knows whether it was carried out.
        async with self._writing:
            answer = await self._carry_out(request)
            self.done(write_of(request))
            if self.crashed.is_set():
                await for_ever()
        return answer

    def done(self, write: Write) -> None:
        """Something was carried out for the process, which may be the last it lived to see."""
        self.writes.append(write)
        if len(self.writes) == self._disturbance.crash_after:
            self.crashed.set()

    async def _carry_out(self, request: Request) -> dict[str, Any]:
        if self.crashed.is_set():
            await for_ever()
        return await super().request(request)

    async def log_end(self, pod: Key, container: str, *, lines: int, size: int) -> bytes:
        """What the simulated node would say: there is nobody to ask."""
        return f"2024-01-01T00:00:00Z {container} of {pod.name}\n".encode()

    async def once(self, request: Request) -> tuple[int, bytes]:
        return 200, b""

    async def watch(
        self,
        kind: Kind,
        namespace: str,
        resource_version: str,
        *,
        labels: Labels = None,
        fields: Labels = None,
    ) -> AsyncGenerator[WatchEvent, None]:
        events = super().watch(kind, namespace, resource_version, labels=labels, fields=fields)
        async with aclosing(events):
            async for event in events:
                if event.type != "BOOKMARK":
                    self.heard[kind.plural] += 1
                    await self._disturb(EventPoint(kind.plural, self.heard[kind.plural]))
                yield event

    async def _disturb(self, point: EventPoint) -> None:
        if point not in (self._disturbance.late, self._disturbance.lost):
            return
        self.holding = True
        await self._released.wait()
        if point == self._disturbance.lost:
            # What came meanwhile was read by nobody: it is as lost as the event itself.
            raise Expired("too old resource version")


def write_of(request: Request) -> Write:
    _, _, inside = request.path.partition("/namespaces/")
    place = inside.partition("/")[2] or request.path
    if request.method == "POST":
        name = (orjson.loads(request.body or b"{}").get("metadata") or {}).get("name", "")
        place = f"{place}/{name}"
    return Write(request.method, place)


async def for_ever() -> NoReturn:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets an event that nobody knows")
