"""Ephemeral containers on the node: they come to a running pod, see it, run once, and decide nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.node.isolation_levels import LEVELS, levels_or_skip
from tests.node.pod_yard import NODE, Yard

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, State
from paddlecloud.embedded.node.lifecycle import next_step
from paddlecloud.embedded.node.podfolder import PodFolder, record_of
from paddlecloud.embedded.node.podstatus import Addresses, status_of
from paddlecloud.embedded.node.sight import Sight

RUNS = Attempt(0, State.RUNNING, started_at=1.0, pid=7)
DONE = Attempt(0, State.FINISHED, started_at=1.0, finished_at=2.0)
FAILED = Attempt(0, State.FINISHED, started_at=1.0, finished_at=2.0, exit_code=3)


def visited(policy: str = "Always") -> Pod:
    return Pod.read({
        "metadata": {"name": "p", "namespace": "d", "uid": "u"},
        "spec": {
            "restartPolicy": policy,
            "containers": [{"name": "main", "image": "a"}],
            "ephemeralContainers": [{"name": "look", "image": "b", "targetContainerName": "main"}],
        },
        "status": {"phase": "Running"},
    })  # fmt: skip


@pytest.mark.parametrize(
    ("main", "look", "started"),
    [
        (RUNS, None, ["look"]),
        (RUNS, RUNS, []),
        (RUNS, DONE, []),
        (RUNS, FAILED, []),  # whatever the policy of the pod
        (None, None, ["main", "look"]),
    ],
    ids=["arrives", "is there", "was there", "failed", "comes first"],
)
def test_a_visitor_comes_once(main: Attempt | None, look: Attempt | None, started: list[str]) -> None:
    runs = {name: (run,) for name, run in (("main", main), ("look", look)) if run}
    step = next_step(visited(), Sight(10.0, runs, prepared=True))
    assert [start.container for start in step.start] == started


@pytest.mark.parametrize(
    ("policy", "main", "look", "phase"),
    [
        ("Always", RUNS, FAILED, "Running"),
        ("Never", DONE, DONE, "Succeeded"),
        ("Never", DONE, FAILED, "Succeeded"),
        ("Never", DONE, RUNS, "Running"),  # it is not over while something runs
    ],
)
def test_the_phase_of_a_pod_is_none_of_its_visitors_business(
    policy: str, main: Attempt, look: Attempt, phase: str
) -> None:
    seen = Sight(10.0, {"main": (main,), "look": (look,)}, prepared=True)
    status = status_of(visited(policy), seen, Addresses("127.1.0.1", "127.0.0.1"))
    assert status["phase"] == phase
    assert [s["name"] for s in status["containerStatuses"]] == ["main"]
    [told] = status["ephemeralContainerStatuses"]
    assert told["name"] == "look" and not told["ready"] and told["restartCount"] == 0
    if look is FAILED:
        assert told["state"]["terminated"]["exitCode"] == 3


def test_a_visitor_is_stopped_with_its_pod() -> None:
    seen = Sight(10.0, {"main": (RUNS,), "look": (RUNS,)}, prepared=True, steady=5.0, leave_by=35.0)
    assert set(next_step(visited(), seen).stop.ask) == {"main", "look"}
    over = Sight(10.0, {"main": (DONE,), "look": (RUNS,)}, prepared=True, steady=5.0)
    assert next_step(visited("Never"), over).stop.ask == ("look",)


def test_the_folder_of_a_pod_remembers_who_came(tmp_path: Path) -> None:
    folder = PodFolder(tmp_path)
    folder.settle(record_of(visited(), "127.1.0.1"))
    folder.welcome("look")
    folder.welcome("look")
    record = folder.record()
    assert record is not None and record.names == ("main", "look")
    assert record.pod().spec["ephemeralContainers"] == [{"name": "look"}]


@pytest.fixture(params=LEVELS)
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


async def test_a_visitor_sees_the_processes_of_its_target_and_goes_with_the_pod(yard: Yard) -> None:
    stays = "trap 'exit 0' TERM; echo here; sleep 1000 & wait"
    yard.run("sh", "-c", stays)
    await yard.until(lambda: yard.log() == "here\n")
    looks = "cat /proc/*/cmdline 2>/dev/null | tr '\\0' ' '; echo seen; " + stays
    comes: dict[str, Any] = {"name": "look", "image": "tried", "command": ["sh", "-c", looks]}
    pod = yard.now()
    spec = {**pod.spec, "ephemeralContainers": [{**comes, "targetContainerName": "main"}]}
    yard.shelf.put(pod.but(spec=spec))
    await yard.until(lambda: "here\n" in yard.log(container="look"))
    assert "echo here; sleep 1000" in yard.log(container="look").partition("seen")[0]
    await yard.until(lambda: "running" in str(yard.now().status.get("ephemeralContainerStatuses")))

    await yard.restart()
    yard.shelf.delete(yard.now())
    await yard.roster.idle()
    assert not list(yard.home.pods(NODE).iterdir())
