"""The runtime against an API server, with a controller small enough to read.

A Widget of size n wants n ConfigMaps `<name>-<i>`; its status tells how many there are and repeats the
text of the ConfigMap it reads.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson
import pytest
from tests.cluster.widgets import Widget, WidgetStatus, World, eventually, running, world

from paddlecloud.api.core import ConfigMap, Event
from paddlecloud.api.meta import Metadata, Resource
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Kind, Labels, Request
from paddlecloud.cluster.watching import WatchEvent
from paddlecloud.controllers.contract import (
    Controller,
    Decision,
    HttpQuestion,
    LogQuestion,
    Note,
    Ref,
    Snapshot,
)
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.passes import Times
from paddlecloud.controllers.runtime import Options, Runtime, run
from paddlecloud.errors import NotFound, PaddleCloudError, Unavailable

FINALIZER = "tests.paddlepaddle.org/clean"


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


async def test_what_was_decided_comes_about(access: Access) -> None:
    async with stage(access) as s:
        await s.world.client.create(s.world.widget("w", size=3))
        widget = await s.ready("w", 3)

        assert await s.parts() == ["w-0", "w-1", "w-2"]
        made = await s.world.client.get(ConfigMap, s.world.namespace, "w-1")
        assert made.controlled_by() == widget.uid
        assert made.metadata.owner_references[0].block_owner_deletion
        assert await eventually(lambda: has(s, {"Making": 1, "Ready": 1}))


async def has(s: Stage, events: dict[str, int]) -> bool:
    return await s.events() == events


async def test_every_write_is_made_once_however_stale_the_cache(access: Access) -> None:
    async with stage(access) as s:
        for number in range(5):
            await s.world.client.create(s.world.widget(f"w{number}", size=4))
        for number in range(5):
            await s.ready(f"w{number}", 4)

        writes = Counter(await s.settled())
    creates = [w for w in writes.elements() if w.startswith("POST") and "configmaps" in w]
    assert len(creates) == 20
    assert not [w for w in writes if w.startswith("DELETE")]
    assert all(writes[f"PATCH {s.world.namespace}/widgets/w{n}/status"] <= 3 for n in range(5))


async def test_a_settled_object_costs_no_write(access: Access) -> None:
    looks = Counter[str]()

    def count(widget: Widget, seen: Snapshot) -> Decision:
        looks[widget.name] += 1
        return decide(widget, seen)

    async with stage(access, replace(WIDGETS, reconcile=count)) as s:
        await s.world.client.create(s.world.widget("w", size=2, reads="text"))
        await s.ready("w", 2)
        before = await s.settled()
        # Things happen around the widget that change nothing for it: looks, but no writes.
        for happens in (
            s.world.client.create(s.world.config("text")),
            s.world.client.patch(ConfigMap, s.world.key("w-0"), {"metadata": {"annotations": {"a": "b"}}}),
            s.world.client.patch(Widget, s.world.key("w"), {"metadata": {"labels": {"a": "b"}}}),
        ):
            seen = looks["w"]
            await happens
            await eventually(partial(more_than, looks, seen))

        assert await s.settled() == before


def more_than(looks: Counter[str], seen: int) -> bool:
    return looks["w"] > seen


async def test_a_child_that_goes_comes_back_and_one_that_is_too_many_goes(access: Access) -> None:
    async with stage(access) as s:
        await s.world.client.create(s.world.widget("w", size=2))
        await s.ready("w", 2)

        gone = await s.world.client.get(ConfigMap, s.world.namespace, "w-0")
        await s.world.client.delete(ConfigMap, gone.key)
        await eventually(lambda: came_back(s, gone))

        await s.world.client.patch(Widget, s.world.key("w"), {"spec": {"size": 1}})
        await s.ready("w", 1)
        assert await s.parts() == ["w-0"]
        changed = await s.world.client.get(ConfigMap, s.world.namespace, "w-0")
        assert changed.data == {"size": "1"}


async def came_back(s: Stage, gone: ConfigMap) -> bool:
    there = await s.world.client.find(ConfigMap, s.world.namespace, gone.name)
    return there is not None and there.uid != gone.uid


async def test_a_change_of_a_related_object_wakes_its_readers(access: Access) -> None:
    async with stage(access) as s:
        await s.world.client.create(s.world.widget("w", size=0, reads="text"))
        await s.ready("w", 0)
        await s.world.client.create(s.world.config("text", text="one"))
        await eventually(lambda: says(s, "one"))
        await s.world.client.patch(ConfigMap, s.world.key("text"), {"data": {"text": "two"}})
        await eventually(lambda: says(s, "two"))
        await s.world.client.delete(ConfigMap, s.world.key("text"))
        await eventually(lambda: says(s, ""))


async def says(s: Stage, text: str) -> bool:
    return (await s.world.client.get(Widget, s.world.namespace, "w")).status.text == text


async def test_an_object_of_somebody_else_is_left_alone_and_told(access: Access) -> None:
    async with stage(access) as s:
        await s.world.client.create(s.world.config("w-0", text="mine"))
        await s.world.client.create(s.world.widget("w", size=2))
        await eventually(lambda: told(s, "NameTaken"))

        theirs = await s.world.client.get(ConfigMap, s.world.namespace, "w-0")
        assert (theirs.data, theirs.controlled_by()) == ({"text": "mine"}, "")
        assert await eventually(lambda: made(s, "w-1"))
        assert s.health.last_error("widget") == ""


async def told(s: Stage, reason: str) -> bool:
    return reason in await s.events()


async def made(s: Stage, name: str) -> bool:
    return name in await s.parts()


async def test_a_write_that_fails_stops_no_other_and_is_tried_again(access: Access) -> None:
    async with stage(access) as s:
        failures = 0

        def fail(request: Request) -> PaddleCloudError | None:
            nonlocal failures
            if request.method == "POST" and b'"w-0"' in (request.body or b"") and failures < 3:
                failures += 1
                return Unavailable("not now")
            return None

        s.recorder.fails = fail
        await s.world.client.create(s.world.widget("w", size=2))
        await s.ready("w", 2)

        assert failures == 3
        ours = [w for w in s.recorder.writes if "configmaps" in w]
        assert len(ours) == 2


async def test_a_refusal_is_told_in_an_event_and_in_the_health(access: Access) -> None:
    def bad(widget: Widget, seen: Snapshot) -> Decision:
        child = ConfigMap(metadata=Metadata(name="Not_A_Name"))
        return Decision(WidgetStatus(phase="Bad"), (child,))

    async with stage(access, replace(WIDGETS, reconcile=bad)) as s:
        await s.world.client.create(s.world.widget("w"))
        await eventually(lambda: told(s, "FailedCreate"))
        await eventually(lambda: "Not_A_Name" in s.health.last_error("widget"))
        widget = await s.world.client.get(Widget, s.world.namespace, "w")
        assert widget.status.phase == "Bad"


async def test_a_mistake_in_a_decision_stops_no_other_object(access: Access) -> None:
    def stumble(widget: Widget, seen: Snapshot) -> Decision:
        if widget.name == "bad":
            raise ZeroDivisionError("oops")
        return decide(widget, seen)

    async with stage(access, replace(WIDGETS, reconcile=stumble)) as s:
        await s.world.client.create(s.world.widget("bad"))
        await s.world.client.create(s.world.widget("good", size=1))
        await s.ready("good", 1)
        await eventually(lambda: s.health.last_error("widget").endswith("bad: ZeroDivisionError: oops"))


async def test_finalizers_come_first_and_go_last(access: Access) -> None:
    def careful(widget: Widget, seen: Snapshot) -> Decision:
        if widget.metadata.deletion_timestamp is None:
            return replace(decide(widget, seen), finalizers=(FINALIZER,))
        left = seen.owned(ConfigMap)
        return Decision(WidgetStatus(phase="Going"), finalizers=(FINALIZER,) if left else ())

    async with stage(access, replace(WIDGETS, reconcile=careful, while_deleting=True)) as s:
        await s.world.client.create(s.world.widget("w", size=1))
        await s.ready("w", 1)
        assert s.recorder.writes[0] == f"PATCH {s.world.namespace}/widgets/w"
        await s.world.client.delete(Widget, s.world.key("w"))
        await eventually(lambda: vanished(s, "w"))

        assert await s.parts() == []
        assert s.health.last_error("widget") == ""


async def vanished(s: Stage, name: str) -> bool:
    return await s.world.client.find(Widget, s.world.namespace, name) is None


async def test_an_object_that_is_being_deleted_is_left_to_others(access: Access) -> None:
    async with stage(access) as s:
        held = s.world.widget("w", size=0)
        held = held.but(metadata=held.metadata.but(finalizers=[FINALIZER]))
        await s.world.client.create(held)
        await s.ready("w", 0)
        await s.world.client.delete(Widget, held.key)
        await s.world.client.patch(Widget, held.key, {"spec": {"size": 2}})
        await s.settled()

        assert await s.parts() == []
        await s.world.client.patch(Widget, held.key, {"metadata": {"finalizers": None}})


async def test_questions_nobody_answers_are_answered_with_none(access: Access) -> None:
    http, logs = HttpQuestion("http://127.0.0.1:1/state"), LogQuestion("default", "nobody")

    def asks(widget: Widget, seen: Snapshot) -> tuple[HttpQuestion | LogQuestion, ...]:
        return (http, logs)

    def report(widget: Widget, seen: Snapshot) -> Decision:
        known = seen.answers[http] is None and seen.answers[logs] is None
        return Decision(WidgetStatus(phase="Ready", text=str(known)))

    async with stage(access, replace(WIDGETS, reconcile=report, asks=asks)) as s:
        await s.world.client.create(s.world.widget("w"))
        assert (await s.ready("w", 0)).status.text == "True"


async def test_time_alone_brings_an_object_back(access: Access) -> None:
    looks = 0

    def patient(widget: Widget, seen: Snapshot) -> Decision:
        nonlocal looks
        looks += 1
        return Decision(WidgetStatus(phase="Ready"), check_again=0.05)

    async with stage(access, replace(WIDGETS, reconcile=patient)) as s:
        await s.world.client.create(s.world.widget("w"))
        await eventually(lambda: looks >= 5)
        assert s.recorder.writes.count(f"PATCH {s.world.namespace}/widgets/w/status") == 1


async def test_killed_after_any_write_the_end_is_the_same(access: Access) -> None:
    async with world(access) as w:
        for stop_after in range(1, 6):
            name = f"w{stop_after}"
            await w.client.create(w.widget(name, size=3))
            async with Recorder(access) as recorder:
                count, dead = 0, asyncio.Event()

                def die(request: Request, stop: int = stop_after, dead: asyncio.Event = dead) -> None:
                    nonlocal count
                    count += 1
                    if count > stop:
                        dead.set()
                        raise asyncio.CancelledError

                recorder.fails = die
                killed = asyncio.create_task(run([WIDGETS], recorder, Options(w.namespace)))
                await asyncio.wait_for(dead.wait(), 20)
                killed.cancel()
                await asyncio.gather(killed, return_exceptions=True)
            async with Recorder(access) as recorder:
                s = Stage(w, recorder)
                async with running(run([WIDGETS], recorder, Options(w.namespace), s.health)):
                    await s.ready(name, 3)
                    assert [p for p in await s.parts() if p.startswith(name)] == [
                        f"{name}-{n}" for n in range(3)
                    ]


class Late(Recorder):
    """A client that holds back the watch of one kind until `gate` is opened."""

    def __init__(self, access: Access, kind: type[Resource]) -> None:
        super().__init__(access)
        self.kind, self.gate, self.holding = kind, asyncio.Event(), asyncio.Event()

    async def watch(
        self, kind: Kind, namespace: str, resource_version: str, **selectors: Labels
    ) -> AsyncGenerator[WatchEvent, None]:
        if kind is self.kind:
            self.holding.set()
            await self.gate.wait()
        async for event in super().watch(kind, namespace, resource_version, **selectors):
            yield event


@pytest.mark.parametrize("late, prompt", [(ConfigMap, Widget), (Widget, ConfigMap)])
async def test_nothing_is_decided_on_a_cache_older_than_our_writes(
    access: Access, late: type[Resource], prompt: type[Resource]
) -> None:
    async with world(access) as w, Late(access, late) as recorder:
        await w.client.create(w.widget("w", size=2))
        runtime = Runtime((WIDGETS,), recorder, Options(w.namespace), Health())
        async with running(runtime.run()):
            await eventually(lambda: f"PATCH {w.namespace}/widgets/w/status" in recorder.writes)
            # What the other cache shows of this pass wakes the widget, and must not be enough.
            newest = max(
                int(x.metadata.resource_version) for x in (await w.client.list(prompt, w.namespace)).items
            )
            await eventually(lambda: runtime.informers[prompt].reached(str(newest)))
            recorder.gate.set()
            await Stage(w, recorder).ready("w", 2)

        writes = Counter(recorder.writes)
        assert writes[f"POST {w.namespace}/configmaps"] == 2
        assert writes[f"PATCH {w.namespace}/widgets/w/status"] == 2


async def test_a_cache_that_does_not_catch_up_is_passed_by(access: Access) -> None:
    async with world(access) as w, Late(access, ConfigMap) as recorder:
        options = Options(w.namespace, times=Times(patience=0.2))
        runtime = Runtime((WIDGETS,), recorder, options, Health())
        async with running(runtime.run()):
            await asyncio.wait_for(recorder.holding.wait(), 20)
            await w.client.create(w.widget("w", size=2))
            widget = await Stage(w, recorder).ready("w", 2)

            assert runtime.informers[ConfigMap].owned(widget.uid) == ()
        assert recorder.writes.count(f"POST {w.namespace}/configmaps") == 2


async def test_the_same_event_again_is_counted(access: Access) -> None:
    def chatty(widget: Widget, seen: Snapshot) -> Decision:
        note = Note("Normal", "Grown", "it has grown")
        return Decision(WidgetStatus(phase="Ready", parts=widget.spec.size), notes=(note,))

    async with stage(access, replace(WIDGETS, reconcile=chatty, owns=())) as s:
        await s.world.client.create(s.world.widget("w", size=1))
        for size in (1, 2, 3):
            await s.world.client.patch(Widget, s.world.key("w"), {"spec": {"size": size}})
            await s.ready("w", size)
            await eventually(partial(has, s, {"Grown": size}))


async def test_an_object_that_goes_during_its_look_is_no_error(access: Access) -> None:
    async with stage(access) as s:

        def vanish(request: Request) -> PaddleCloudError | None:
            return NotFound("gone") if request.path.endswith("/status") else None

        s.recorder.fails = vanish
        await s.world.client.create(s.world.widget("w", size=1))
        await eventually(lambda: made(s, "w-0"))
        await s.world.client.delete(Widget, s.world.key("w"))
        await eventually(lambda: vanished(s, "w"))

        assert s.health.last_error("widget") == ""
