"""The runtime against an API server, with a controller small enough to read.

A Widget of size n wants n ConfigMaps `<name>-<i>`; its status tells how many there are and repeats the
text of the ConfigMap it reads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from tests.cluster.widgets import Widget, WidgetStatus, World, eventually, running, world

from paddlecloud.api.core import ConfigMap, Event
from paddlecloud.api.meta import Metadata
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Request
from paddlecloud.controllers.contract import (
    Controller,
    Decision,
    Note,
    Ref,
    Snapshot,
)
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.runtime import Options, run
from paddlecloud.errors import PaddleCloudError


def part(widget: Widget, number: int) -> ConfigMap:
    return ConfigMap(metadata=Metadata(name=f"{widget.name}-{number}"), data={"size": str(widget.spec.size)})


def decide(widget: Widget, seen: Snapshot) -> Decision:
    parts = seen.owned(ConfigMap)
    read = seen.find(ConfigMap, widget.spec.reads)
    phase = "Ready" if len(parts) == widget.spec.size else "Making"
    status = WidgetStatus(phase=phase, parts=len(parts), text=read.data.get("text", "") if read else "")
    notes = (Note("Normal", phase, f"it is {phase}"),) if phase != widget.status.phase else ()
    return Decision(status, tuple(part(widget, n) for n in range(widget.spec.size)), notes=notes)


def reads(widget: Widget) -> tuple[Ref, ...]:
    return (Ref(ConfigMap, widget.namespace, widget.spec.reads),) if widget.spec.reads else ()


WIDGETS = Controller("widget", Widget, decide, owns=(ConfigMap,), reads=(ConfigMap,), related=reads)


class Recorder(Client):
    """A client that remembers its writes and can be told to fail at some."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.writes: list[str] = []
        self.fails: Callable[[Request], PaddleCloudError | None] = lambda request: None

    async def request(self, request: Request) -> dict[str, Any]:
        if request.method != "GET":
            if error := self.fails(request):
                raise error
            about = orjson.loads(request.body or b"{}").get("involvedObject")
            line = f"{request.method} {request.path.rsplit('/namespaces/', 1)[-1]}"
            self.writes.append(f"{line} for {about['name']}" if about else line)
        return await super().request(request)


@dataclass
class Stage:
    world: World
    recorder: Recorder
    health: Health = field(default_factory=Health)

    async def ready(self, name: str, size: int) -> Widget:
        """The widget, once it is Ready with that many parts."""

        async def look() -> Widget | None:
            widget = await self.world.client.get(Widget, self.world.namespace, name)
            done = widget.status.phase == "Ready" and widget.status.parts == size
            return widget if done else None

        widget: Widget = await eventually(look)
        return widget

    async def parts(self) -> list[str]:
        listing = await self.world.client.list(ConfigMap, self.world.namespace)
        return [c.name for c in listing.items if c.name != "kube-root-ca.crt"]

    async def events(self) -> dict[str, int]:
        listing = await self.world.client.list(Event, self.world.namespace)
        return {e.reason: e.count for e in listing.items}

    async def settled(self) -> list[str]:
        """All writes but those for a widget made last, once that one has been told of."""
        name = f"mark{len(self.recorder.writes)}"
        await self.world.client.create(self.world.widget(name))
        await eventually(lambda: any(w.endswith(f"events for {name}") for w in self.recorder.writes))
        return [w for w in self.recorder.writes if "mark" not in w]


@asynccontextmanager
async def stage(access: Access, controller: Controller = WIDGETS) -> AsyncIterator[Stage]:
    async with world(access) as w, Recorder(access) as recorder:
        stage = Stage(w, recorder)
        options = Options(namespace=w.namespace)
        async with running(run([controller], recorder, options, stage.health)):
            await eventually(lambda: stage.health.synced)
            yield stage


async def has(s: Stage, events: dict[str, int]) -> bool:
    return await s.events() == events


async def told(s: Stage, reason: str) -> bool:
    return reason in await s.events()


async def made(s: Stage, name: str) -> bool:
    return name in await s.parts()


async def vanished(s: Stage, name: str) -> bool:
    return await s.world.client.find(Widget, s.world.namespace, name) is None
