"""Events are told without waiting for the API, in order, and are there when somebody asks to be sure."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from tests.node.pod_yard import Shelf, Yard

from paddlecloud.api.core import Event, Pod
from paddlecloud.embedded.node import preparing
from paddlecloud.embedded.node.events import MOST_WAITING, Recorder
from paddlecloud.errors import Unreachable


class SlowShelf(Shelf):
    """An API that writes no event before `door` is open, and loses those of one reason."""

    def __init__(self) -> None:
        super().__init__()
        self.door = asyncio.Event()

    async def record(self, event: Event) -> None:
        await self.door.wait()
        if event.reason == "Lost":
            raise Unreachable("nobody answers")
        await super().record(event)


def a_pod(uid: str = "u") -> Pod:
    spec = {"nodeName": "one", "containers": [{"name": "main"}]}
    return Pod.read({"metadata": {"name": f"p-{uid}", "namespace": "d", "uid": uid}, "spec": spec})


async def test_whoever_tells_an_event_does_not_wait_for_it_and_the_order_stays() -> None:
    shelf = SlowShelf()
    recorder = Recorder(shelf, time.time)
    async with asyncio.timeout(20):
        for reason in ("Pulled", "Lost", "Created", "Started"):
            await recorder.tell(a_pod(), reason, f"it is {reason}")
        assert shelf.events == []
        shelf.door.set()
        await recorder.told(a_pod())
    assert [event.reason for event in shelf.events] == ["Pulled", "Created", "Started"]


async def test_whoever_has_too_much_to_say_waits_and_keeps_no_other_pod_from_speaking() -> None:
    shelf = SlowShelf()
    recorder = Recorder(shelf, time.time)

    async def talk() -> None:
        for number in range(MOST_WAITING * 2):
            await recorder.tell(a_pod("chatty"), "Unhealthy", f"for the {number}th time")

    talking = asyncio.create_task(talk())
    async with asyncio.timeout(20):
        await recorder.tell(a_pod("calm"), "Started", "it runs")
        await asyncio.sleep(0)
        assert not talking.done()
        shelf.door.set()
        await talking
        await recorder.told(a_pod("chatty"))
        await recorder.told(a_pod("calm"))
    assert len(shelf.events) == MOST_WAITING * 2 + 1


async def test_a_pod_that_lacks_nothing_is_told_of_first_when_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine more than a moment may pass.
    monkeypatch.setattr(preparing, "MOMENT", 20.0)
    yard = Yard(tmp_path)
    try:
        yard.run("sleep", "600")
        await yard.until(lambda: yard.now().status)
        assert (yard.now().phase, yard.shelf.writes["p"]) == ("Running", 1)
    finally:
        await yard.close()
