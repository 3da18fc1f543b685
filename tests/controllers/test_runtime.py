"""The runtime against an API server: what was decided comes about, once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from functools import partial

from tests.cluster.widgets import Widget, WidgetStatus, eventually, running, world
from tests.controllers.widget_stage import WIDGETS, Recorder, Stage, decide, has, made, stage, told

from paddlecloud.api.core import ConfigMap
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Request
from paddlecloud.controllers.contract import (
    Controller,
    Decision,
    HttpQuestion,
    LogQuestion,
    Snapshot,
)
from paddlecloud.controllers.passes import GATHERING, GLANCES_A_SECOND, Passes, Times
from paddlecloud.controllers.runtime import Options, run


async def test_what_was_decided_comes_about(access: Access) -> None:
    async with stage(access) as s:
        await s.world.client.create(s.world.widget("w", size=3))
        widget = await s.ready("w", 3)

        assert await s.parts() == ["w-0", "w-1", "w-2"]
        made = await s.world.client.get(ConfigMap, s.world.namespace, "w-1")
        assert made.controlled_by() == widget.uid
        assert made.metadata.owner_references[0].block_owner_deletion
        assert await eventually(lambda: has(s, {"Making": 1, "Ready": 1}))


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


async def test_glances_come_later_the_more_objects_want_them(access: Access) -> None:
    asked: list[tuple[str, bool]] = []
    now = 0.0

    def curious(widget: Widget, seen: Snapshot) -> Decision:
        asked.append((widget.name, seen.glance))
        return Decision(WidgetStatus(phase="Ready"), glance=1.0, check_again=9.0)

    async with world(access) as w, Client(access) as client:
        informer = Informer(client, Widget, w.namespace)
        times = Times(clock=lambda: now)
        passes = Passes(Controller("widget", Widget, curious), client, {Widget: informer}, times)
        for name in "abc":
            await client.create(w.widget(name))
        async with running(informer.run()):
            await eventually(lambda: len(informer.all()) == 3)
            dates = [await passes.sync(w.key(name)) for name in "abc"]
            await eventually(lambda: all(o.status.phase for o in informer.all()))
            assert dates == [max(1.0, n / GLANCES_A_SECOND) for n in (1, 2, 3)]
            now = 1.0
            again = [await passes.sync(w.key(name)) for name in "ac"]
    # The one whose turn it was waits for the next, the other for what is left of its own.
    assert again == [3 / GLANCES_A_SECOND, 3 / GLANCES_A_SECOND - 1.0]
    assert asked == [("a", False), ("b", False), ("c", False), ("a", True), ("c", False)]


async def test_counts_that_change_one_after_the_other_become_one_write(access: Access) -> None:
    now, phase, gathers = 0.0, "1/3", True

    def counting(widget: Widget, seen: Snapshot) -> Decision:
        return Decision(WidgetStatus(phase=phase), counts_only=gathers)

    async with world(access) as w, Client(access) as client:
        informer = Informer(client, Widget, w.namespace)
        passes = Passes(
            Controller("widget", Widget, counting), client, {Widget: informer}, Times(clock=lambda: now)
        )
        await client.create(w.widget("w"))

        async def stored() -> str:
            return (await client.get(Widget, w.namespace, "w")).status.phase

        async with running(informer.run()):
            await eventually(lambda: len(informer.all()) == 1)
            assert await passes.sync(w.key("w")) == GATHERING
            now, phase = 0.6, "2/3"
            assert await passes.sync(w.key("w")) == 0.4
            assert await stored() == ""
            now, phase = GATHERING, "3/3"
            assert await passes.sync(w.key("w")) is None
            assert await stored() == "3/3"
            await eventually(lambda: informer.all()[0].status.phase == "3/3")
            # What a person waits for is told at once, and the next counts are gathered anew.
            now, phase = 5.0, "2/3"
            assert await passes.sync(w.key("w")) == GATHERING
            phase, gathers = "Done", False
            assert await passes.sync(w.key("w")) is None
            assert await stored() == "Done"
