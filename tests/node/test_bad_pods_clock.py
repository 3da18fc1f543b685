"""A clock that jumps while pods run: nobody is restarted, ended or kept waiting because of it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.node.pod_yard import Yard

DAY = 86_400.0
STUBBORN = "trap '' TERM; echo up; while :; do sleep 0.05; done"


class Clock:
    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def yard(tmp_path: Path, clock: Clock) -> AsyncIterator[Yard]:
    it = Yard(tmp_path)
    it.clock = clock
    await it.restart()
    yield it
    await it.close()


def status(yard: Yard) -> dict[str, Any]:
    return dict(yard.now().status["containerStatuses"][0])


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["ahead", "back"])
async def test_a_ready_pod_stays_ready_and_stops_within_its_grace(
    yard: Yard, clock: Clock, jump: float
) -> None:
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 0.1, "timeoutSeconds": 5}
    yard.run("sh", "-c", STUBBORN, restartPolicy="Always",
             container={"readinessProbe": probe, "livenessProbe": probe})  # fmt: skip
    await yard.until(lambda: yard.log() and yard.now().ready)
    clock.ahead = jump
    yard.shelf.put(yard.now().but(metadata=yard.now().metadata.but(labels={"seen": "after"})))
    await yard.restart()
    await yard.until(lambda: yard.now().ready)
    assert (status(yard)["restartCount"], yard.reasons().count("Started")) == (0, 1)
    # As the API server wrote it, by the clock before the jump.
    pod = yard.now()
    asked = datetime.fromtimestamp(time.time() + 1, UTC)
    told = pod.metadata.but(deletion_timestamp=asked, deletion_grace_period_seconds=1)
    yard.shelf.put(pod.but(metadata=told))
    await yard.until(lambda: pod.key not in yard.shelf.pods)


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["ahead", "back"])
async def test_a_pause_is_as_long_as_it_was(yard: Yard, clock: Clock, jump: float) -> None:
    yard.run("false", restartPolicy="Always")
    await yard.until(lambda: "CrashLoopBackOff" in str(yard.now().status))
    restarts = status(yard)["restartCount"]
    clock.ahead = jump
    yard.shelf.put(yard.now().but(metadata=yard.now().metadata.but(labels={"seen": "after"})))
    await yard.until(lambda: "BackOff" in yard.reasons())
    waiting = status(yard)["state"]["waiting"]
    assert waiting["message"].startswith("back-off 10s restarting failed container=main")
    assert status(yard)["restartCount"] == restarts
