"""Pods as the decision sees them: a spec, some runs, a clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, State
from paddlecloud.embedded.node.lifecycle import Sight, Start, Step, due_at, next_step
from paddlecloud.embedded.node.obstacles import ConfigMissing, ImageUnknown
from paddlecloud.embedded.node.podstatus import Addresses, status_of

NOW = 1_000_000.0
ADDRESSES = Addresses("127.7.0.1", "127.0.0.1")


def a_pod(
    policy: str = "Always",
    *,
    init: int = 0,
    main: int = 1,
    metadata: dict[str, Any] | None = None,
    **more: Any,
) -> Pod:
    spec = {
        "restartPolicy": policy,
        "nodeName": "one",
        "initContainers": [{"name": f"init{i}", "image": "tried"} for i in range(init)],
        "containers": [{"name": f"main{i}", "image": "tried"} | more for i in range(main)],
    }
    return Pod.read(
        {"metadata": {"name": "p", "namespace": "d", "uid": "u"} | (metadata or {}), "spec": spec}
    )


def running(number: int = 0) -> Attempt:
    return Attempt(number, State.RUNNING, started_at=NOW - 10, pid=7)


def over(code: int, *, number: int = 0, ago: float = 0.0, lasted: float = 5.0, crashes: int = 0) -> Attempt:
    end = NOW - ago
    return Attempt(number, State.FINISHED, crashes, end - lasted, end, code)


def sight(prepared: bool = True, **attempts: Attempt) -> Sight:
    return Sight(NOW, {name: (attempt,) for name, attempt in attempts.items()}, prepared=prepared)


@pytest.mark.parametrize(
    "pod, seen, started",
    [
        pytest.param(a_pod(), sight(), ["main0"], id="a new pod starts its container"),
        pytest.param(a_pod(main=2), sight(), ["main0", "main1"], id="all of them at once"),
        pytest.param(a_pod(), sight(prepared=False), [], id="not before it is prepared"),
        pytest.param(a_pod(init=2), sight(), ["init0"], id="init containers come first"),
        pytest.param(a_pod(init=2), sight(init0=running()), [], id="one after the other"),
        pytest.param(a_pod(init=2), sight(init0=over(0)), ["init1"], id="in their order"),
        pytest.param(a_pod(init=1), sight(init0=over(0)), ["main0"], id="then the containers"),
        pytest.param(
            a_pod("Never", init=1), sight(init0=over(1)), [], id="a failed init container ends a Never pod"
        ),
        pytest.param(a_pod(init=1), sight(init0=over(1, ago=2)), ["init0"], id="else it is tried again"),
        pytest.param(a_pod(), sight(main0=running()), [], id="a running container is left alone"),
        pytest.param(
            a_pod(), sight(main0=Attempt(0, State.PREPARED)), ["main0"], id="a described run is begun"
        ),
        pytest.param(a_pod(), sight(main0=over(0, ago=2)), ["main0"], id="Always restarts a success"),
        pytest.param(a_pod("OnFailure"), sight(main0=over(0, ago=2)), [], id="OnFailure does not"),
        pytest.param(
            a_pod("OnFailure"), sight(main0=over(1, ago=2)), ["main0"], id="OnFailure restarts a failure"
        ),
        pytest.param(a_pod("Never"), sight(main0=over(1, ago=2)), [], id="Never restarts nothing"),
        pytest.param(a_pod(), sight(main0=over(1, ago=0.5)), [], id="a restart waits for its pause"),
        pytest.param(a_pod(main=2), sight(main0=running()), ["main1"], id="each container on its own"),
    ],
)
def test_what_is_started_next(pod: Pod, seen: Sight, started: list[str]) -> None:
    assert [s.container for s in next_step(pod, seen).start] == started


def test_a_pod_that_is_not_prepared_asks_for_it() -> None:
    assert next_step(a_pod(), sight(prepared=False)) == Step(prepare=True)


def test_the_end_of_a_pause_is_when_to_look_again() -> None:
    assert next_step(a_pod(), sight(main0=over(1, ago=0.25))).check_again == 0.75


def test_a_restart_counts_on_and_remembers_the_quick_ends() -> None:
    assert next_step(a_pod(), sight(main0=over(1, number=4, crashes=2, ago=9))).start == (
        Start("main0", 5, 3),
    )


@pytest.mark.parametrize(
    "crashes, lasted, pause",
    [(0, 5, 1), (1, 5, 2), (2, 5, 4), (8, 5, 256), (9, 5, 300), (31, 5, 300), (9, 600, 0), (0, 599, 1)],
)
def test_the_pause_doubles_up_to_five_minutes_and_a_long_run_clears_it(
    crashes: int, lasted: float, pause: float
) -> None:
    attempt = over(1, crashes=crashes, lasted=lasted)
    assert due_at(attempt) - attempt.finished_at == pause


def deleted(seconds_left: float, **more: Any) -> Pod:
    until = datetime.fromtimestamp(NOW + seconds_left, UTC).isoformat()
    return a_pod(metadata={"deletionTimestamp": until, "deletionGracePeriodSeconds": 30}, **more)


@pytest.mark.parametrize(
    "pod, seen, step",
    [
        pytest.param(
            deleted(30),
            sight(main0=running()),
            Step(ask_to_stop=("main0",), check_again=30),
            id="asked to stop first",
        ),
        pytest.param(
            deleted(20),
            Sight(NOW, {"main0": (running(),)}, asked_to_stop=frozenset({"main0"})),
            Step(check_again=20),
            id="asked once",
        ),
        pytest.param(
            deleted(0), sight(main0=running()), Step(kill=("main0",)), id="killed when patience ends"
        ),
        pytest.param(deleted(30), sight(main0=over(0)), Step(remove=True), id="removed when nothing runs"),
        pytest.param(deleted(30), sight(), Step(remove=True), id="removed though it never ran"),
        pytest.param(
            deleted(30, init=1),
            sight(init0=running()),
            Step(ask_to_stop=("init0",), check_again=30),
            id="init containers too",
        ),
        pytest.param(
            a_pod(),
            Sight(NOW, {"main0": (running(),)}, gone_since=NOW),
            Step(ask_to_stop=("main0",), check_again=2),
            id="a pod that left the API is stopped",
        ),
        pytest.param(
            a_pod(),
            Sight(NOW, {"main0": (running(),)}, gone_since=NOW - 2),
            Step(kill=("main0",)),
            id="and killed soon after",
        ),
    ],
)
def test_how_a_pod_is_stopped(pod: Pod, seen: Sight, step: Step) -> None:
    assert next_step(pod, seen) == step


def test_a_finished_pod_is_left_alone() -> None:
    pod = a_pod("OnFailure").but(status={"phase": "Failed"})
    assert next_step(pod, sight(main0=over(1, ago=9))) == Step()


@pytest.mark.parametrize(
    "pod, seen, phase",
    [
        (a_pod(), sight(), "Pending"),
        (a_pod(main=2), sight(main0=running()), "Pending"),
        (a_pod(), sight(main0=running()), "Running"),
        (a_pod(init=1), sight(init0=running()), "Pending"),
        (a_pod(init=1), sight(init0=over(1)), "Pending"),
        (a_pod("Never", init=1), sight(init0=over(1)), "Failed"),
        (a_pod(), sight(main0=over(0)), "Running"),
        (a_pod(), sight(main0=over(1)), "Running"),
        (a_pod("OnFailure"), sight(main0=over(1)), "Running"),
        (a_pod("OnFailure"), sight(main0=over(0)), "Succeeded"),
        (a_pod("Never"), sight(main0=over(0)), "Succeeded"),
        (a_pod("Never"), sight(main0=over(1)), "Failed"),
        (a_pod("Never", main=2), sight(main0=over(1), main1=running()), "Running"),
        (a_pod("Never", main=2), sight(main0=over(0), main1=over(2)), "Failed"),
        (a_pod("Never", main=2), sight(main0=over(0), main1=over(0)), "Succeeded"),
        (deleted(30), sight(main0=over(0)), "Running"),
    ],
)
def test_the_phase_of_a_pod(pod: Pod, seen: Sight, phase: str) -> None:
    assert status_of(pod, seen, ADDRESSES)["phase"] == phase


def test_a_final_phase_stays() -> None:
    pod = a_pod("Never").but(status={"phase": "Failed"})
    assert status_of(pod, sight(), ADDRESSES)["phase"] == "Failed"


PROBED: dict[str, Any] = {"readinessProbe": {"tcpSocket": {"port": 80}}}


@pytest.mark.parametrize(
    "pod, seen, ready",
    [
        (a_pod(), sight(main0=running()), True),
        (a_pod(), sight(), False),
        (a_pod(**PROBED), sight(main0=running()), False),
        (a_pod(**PROBED), Sight(NOW, {"main0": (running(),)}, {"main0": True}), True),
        (a_pod(**PROBED), Sight(NOW, {"main0": (running(),)}, {"main0": False}), False),
        (a_pod(main=2), sight(main0=running()), False),
        (a_pod("Never"), sight(main0=over(0)), False),
    ],
)
def test_when_a_pod_is_ready(pod: Pod, seen: Sight, ready: bool) -> None:
    status = status_of(pod, seen, ADDRESSES)
    assert pod.but(status=status).ready == ready


@pytest.mark.parametrize(
    "pod, seen, waiting",
    [
        (a_pod(), sight(), "ContainerCreating"),
        (a_pod(init=1), sight(), "PodInitializing"),
        (a_pod(), sight(main0=over(1)), "CrashLoopBackOff"),
        (a_pod(), Sight(NOW, obstacle=ImageUnknown("no")), "ErrImagePull"),
        (a_pod(), Sight(NOW, obstacles={"main0": ConfigMissing("no")}), "CreateContainerConfigError"),
    ],
)
def test_what_a_container_says_it_waits_for(pod: Pod, seen: Sight, waiting: str) -> None:
    container = status_of(pod, seen, ADDRESSES)["containerStatuses"][0]
    assert container["state"]["waiting"]["reason"] == waiting
    assert container["ready"] is False


def test_a_crashed_container_shows_its_end_and_how_often_it_was_restarted() -> None:
    runs = (over(7, number=2, ago=20), running(3))
    container = status_of(a_pod(), Sight(NOW, {"main0": runs}), ADDRESSES)["containerStatuses"][0]
    assert container["restartCount"] == 3
    assert container["lastState"]["terminated"]["exitCode"] == 7
    assert "running" in container["state"]


def test_a_container_whose_end_nobody_saw_says_so() -> None:
    lost = Attempt(0, State.VANISHED, 0, NOW - 5, NOW, 137, 9, "not seen")
    container = status_of(a_pod("Never"), sight(main0=lost), ADDRESSES)["containerStatuses"][0]
    assert container["state"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert container["state"]["terminated"]["signal"] == 9


def test_a_settled_pod_gives_the_same_status_again() -> None:
    first = status_of(a_pod(), sight(main0=running()), ADDRESSES)
    later = Sight(NOW + 500, {"main0": (running(),)}, prepared=True)
    assert status_of(a_pod().but(status=first), later, ADDRESSES) == first


def test_a_transition_takes_the_time_of_its_moment_and_other_conditions_stay() -> None:
    theirs = {"type": "example.com/gate", "status": "True"}
    first = status_of(a_pod(), sight(), ADDRESSES)
    pod = a_pod().but(status=first | {"conditions": [*first["conditions"], theirs]})
    later = status_of(pod, Sight(NOW + 60, {"main0": (running(),)}), ADDRESSES)
    times = {c["type"]: c.get("lastTransitionTime") for c in later["conditions"]}
    assert times["Ready"] != times["PodScheduled"]
    assert theirs in later["conditions"]


@pytest.mark.parametrize(
    "resources, quality",
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_the_quality_of_service(resources: dict[str, Any], quality: str) -> None:
    assert status_of(a_pod(resources=resources), sight(), ADDRESSES)["qosClass"] == quality
