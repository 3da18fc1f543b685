"""How a pod ends: who is asked to stop, how long it has, when it is removed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.node.seen_pods import ADDRESSES, NOW, a_pod, beside, leaving, over, running, sight

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, Notes, State
from paddlecloud.embedded.node.lifecycle import Step, next_step
from paddlecloud.embedded.node.podstatus import status_of
from paddlecloud.embedded.node.sight import Ending, Sight, Stop
from paddlecloud.embedded.node.stopping import Stopping

HOOKED: dict[str, Any] = {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}


def asked(ago: float, name: str = "main0") -> tuple[str, Stop]:
    return name, Stop(0, 1000.0 - ago, hooked=True, asked=1000.0 - ago)


@pytest.mark.parametrize(
    "pod, seen, stop",
    [
        pytest.param(
            a_pod(), leaving(30, main0=running()), Stopping(ask=("main0",), check_again=30), id="asked first"
        ),
        pytest.param(
            a_pod(), leaving(20, asked(10), main0=running()), Stopping(check_again=20), id="asked once"
        ),
        pytest.param(a_pod(), leaving(0, asked(30), main0=running()), Stopping(kill=("main0",)), id="killed"),
        pytest.param(
            a_pod(), leaving(0, main0=running()), Stopping(ask=("main0",), check_again=2),
            id="whoever has no grace is asked too",
        ),
        pytest.param(
            a_pod(), leaving(-1.5, asked(1.5), main0=running()), Stopping(check_again=0.5),
            id="and has two seconds",
        ),
        pytest.param(
            a_pod(**HOOKED), leaving(30, main0=running()), Stopping(hook=("main0",), check_again=30),
            id="a preStop hook comes before the signal",
        ),
        pytest.param(
            a_pod(**HOOKED), leaving(28, ("main0", Stop(0, 998.0)), main0=running()),
            Stopping(check_again=28), id="which waits for its end",
        ),
        pytest.param(
            a_pod(**HOOKED), leaving(25, ("main0", Stop(0, 995.0, hooked=True)), main0=running()),
            Stopping(ask=("main0",), check_again=25), id="and follows it",
        ),
        pytest.param(
            a_pod(**HOOKED), leaving(0, ("main0", Stop(0, 970.0)), main0=running()),
            Stopping(ask=("main0",), check_again=2), id="a hook that takes too long costs the grace",
        ),
        pytest.param(
            a_pod(**HOOKED), leaving(0, main0=running()), Stopping(ask=("main0",), check_again=2),
            id="without grace there is no hook",
        ),
        pytest.param(
            a_pod(**HOOKED), leaving(25, ("main0", Stop(4, 995.0, hooked=True)), main0=running(5)),
            Stopping(hook=("main0",), check_again=25), id="the stop of an older run is not that of this one",
        ),
        pytest.param(
            a_pod(init=1), leaving(30, init0=running()), Stopping(ask=("init0",), check_again=30),
            id="init containers too",
        ),
        pytest.param(
            beside(a_pod(init=2), 0, 1), leaving(30, init0=running(), init1=running(), main0=running()),
            Stopping(ask=("main0",), check_again=30), id="sidecars are stopped after the others",
        ),
        pytest.param(
            beside(a_pod(init=2), 0, 1), leaving(30, init0=running(), init1=running(), main0=over(0)),
            Stopping(ask=("init1",), check_again=30), id="the last one first",
        ),
        pytest.param(
            beside(a_pod(init=2), 0, 1), leaving(0, asked(9, "init1"), init0=running(), init1=running()),
            Stopping(ask=("init0",), kill=("init1",), check_again=2), id="but nobody waits beyond the grace",
        ),
    ],
)  # fmt: skip
def test_how_a_pod_is_stopped(pod: Pod, seen: Sight, stop: Stopping) -> None:
    assert next_step(pod, seen) == Step(stop=stop, check_again=stop.check_again)


@pytest.mark.parametrize("attempts", [{"main0": over(0)}, {}])
def test_a_pod_that_is_to_go_is_removed_when_nothing_runs(attempts: dict[str, Attempt]) -> None:
    assert next_step(a_pod(), leaving(30, **attempts)) == Step(remove=True)


def condemned(grace: float | None = None) -> Attempt:
    notes = Notes(condemned="Container main0 failed liveness probe", grace=grace)
    return Attempt(0, State.RUNNING, started_at=NOW - 10, pid=7, notes=notes)


@pytest.mark.parametrize(
    "grace, left",
    [(None, 30.0), (5.0, 5.0), (0.0, 2.0)],
)
def test_a_condemned_run_has_the_grace_of_its_probe_or_its_pod(grace: float | None, left: float) -> None:
    step = next_step(a_pod(main=2), sight(main0=condemned(grace), main1=running()))
    assert step.stop == Stopping(ask=("main0",), check_again=left)
    assert step.start == ()


@pytest.mark.parametrize("policy, again", [("Always", True), ("OnFailure", True), ("Never", False)])
def test_a_condemned_run_comes_back_though_it_ended_well(policy: str, again: bool) -> None:
    ended = Attempt(0, State.FINISHED, 0, NOW - 20, NOW - 10, 0, notes=Notes(condemned="why"))
    assert bool(next_step(a_pod(policy), sight(main0=ended)).start) == again


def test_sidecars_end_with_the_pod_they_accompany() -> None:
    pod = beside(a_pod("Never", init=1), 0)
    step = next_step(pod, sight(init0=running(), main0=over(0)))
    assert step.stop.ask == ("init0",) and not step.start and not step.remove
    assert status_of(pod, sight(init0=running(), main0=over(0)), ADDRESSES)["phase"] == "Running"
    assert status_of(pod, sight(init0=over(143), main0=over(0)), ADDRESSES)["phase"] == "Succeeded"


def overdue(**attempts: Attempt) -> tuple[Pod, Sight]:
    pod = a_pod().but(status={"startTime": datetime.fromtimestamp(NOW - 60, UTC).isoformat()})
    return pod.but(spec={**pod.spec, "activeDeadlineSeconds": 60}), sight(True, **attempts)


def test_a_pod_that_was_active_for_too_long_is_stopped_and_then_failed() -> None:
    pod, seen = overdue(main0=running())
    assert next_step(pod, seen).stop.ask == ("main0",)
    assert status_of(pod, seen, ADDRESSES)["phase"] == "Running"
    pod, seen = overdue(main0=over(143))
    status = status_of(pod, seen, ADDRESSES)
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert next_step(pod, seen) == Step()


def test_a_deadline_is_when_to_look_again() -> None:
    pod, _ = overdue()
    assert next_step(pod, Sight(NOW - 7, {"main0": (running(),)})).check_again == 7


def test_a_pod_the_node_does_not_take_fails_without_a_run() -> None:
    seen = Sight(NOW, refused=Ending("OutOfcpu", "Node didn't have enough resource: cpu"))
    status = status_of(a_pod(), seen, ADDRESSES)
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert next_step(a_pod(), seen) == Step()


def test_a_finished_pod_is_left_alone() -> None:
    pod = a_pod("OnFailure").but(status={"phase": "Failed"})
    assert next_step(pod, sight(main0=over(1, ago=9))) == Step()
