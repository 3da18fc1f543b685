"""The runtime and what goes wrong or goes away: errors, refusals, finalizers, deletions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.cluster.widgets import Widget, WidgetStatus, eventually
from tests.controllers.widget_stage import WIDGETS, decide, made, stage, told, vanished

from paddlecloud.api.core import ConfigMap, Event
from paddlecloud.api.meta import Metadata
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Request
from paddlecloud.controllers.contract import (
    Decision,
    Snapshot,
)
from paddlecloud.errors import NotFound, PaddleCloudError, Unavailable

FINALIZER = "tests.paddlepaddle.org/clean"


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


async def test_a_mistake_in_a_decision_stops_no_other_object_and_is_told_once(access: Access) -> None:
    looks = Counter[str]()

    def stumble(widget: Widget, seen: Snapshot) -> Decision:
        looks[widget.name] += 1
        if widget.name == "bad" and widget.spec.size == 0:
            raise ZeroDivisionError("oops")
        return decide(widget, seen)

    async with stage(access, replace(WIDGETS, reconcile=stumble)) as s:
        await s.world.client.create(s.world.widget("bad"))
        await s.world.client.create(s.world.widget("good", size=1))
        await s.ready("good", 1)
        await eventually(lambda: s.health.last_error("widget").endswith("bad: ZeroDivisionError: oops"))
        await eventually(lambda: looks["bad"] >= 4)

        listing = await s.world.client.list(Event, s.world.namespace)
        [event] = [e for e in listing.items if e.involved_object.get("name") == "bad"]
        assert (event.type, event.reason, event.count) == ("Warning", "DecisionFailed", 1)
        assert "ZeroDivisionError: oops" in event.message
        assert [w for w in s.recorder.writes if "bad" in w] == [f"POST {s.world.namespace}/events for bad"]

        # What would have been decided comes about as soon as it can be.
        await s.world.client.patch(Widget, s.world.key("bad"), {"spec": {"size": 2}})
        await s.ready("bad", 2)
        assert s.health.last_error("widget") == ""


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
