"""The runtime on caches that are late, and events that repeat."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial

import pytest
from tests.cluster.widgets import Widget, WidgetStatus, eventually, running, world
from tests.controllers.widget_stage import WIDGETS, Recorder, Stage, has, stage

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.meta import Resource
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Kind, Labels
from paddlecloud.cluster.watching import WatchEvent
from paddlecloud.controllers.contract import (
    Decision,
    Note,
    Snapshot,
)
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.passes import Times
from paddlecloud.controllers.runtime import Options, Runtime


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
