"""Pods as the decision sees them: a spec, some runs, a clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, Notes, State
from paddlecloud.embedded.node.lifecycle import Start, Step, next_step, pause_after
from paddlecloud.embedded.node.obstacles import ConfigMissing, ImageUnknown, VolumeMissing
from paddlecloud.embedded.node.podstatus import Addresses, status_of
from paddlecloud.embedded.node.sight import Ending, Sight, Stop
from paddlecloud.embedded.node.stopping import Stopping

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
        pytest.param(a_pod(), sight(main0=over(1, ago=9, crashes=1)), [], id="a restart waits for its pause"),
        pytest.param(a_pod(), sight(main0=over(1)), ["main0"], id="the first one does not"),
        pytest.param(a_pod(main=2), sight(main0=running()), ["main1"], id="each container on its own"),
    ],
)
def test_what_is_started_next(pod: Pod, seen: Sight, started: list[str]) -> None:
    assert [s.container for s in next_step(pod, seen).start] == started


def test_a_pod_that_is_not_prepared_asks_for_it() -> None:
    assert next_step(a_pod(), sight(prepared=False)) == Step(prepare=True)


def test_the_end_of_a_pause_is_when_to_look_again() -> None:
    assert next_step(a_pod(), sight(main0=over(1, ago=2.5, crashes=1))).check_again == 7.5


@pytest.mark.parametrize("jump", [-86400.0, 86400.0])
def test_a_pause_does_not_mind_a_clock_that_jumps(jump: float) -> None:
    attempt = over(1, crashes=1)
    seen = Sight(NOW + jump, {"main0": (attempt,)}, prepared=True, rested={"main0": 4.0})
    assert next_step(a_pod(), seen) == Step(check_again=6.0)


def test_a_restart_counts_on_and_remembers_the_quick_ends() -> None:
    assert next_step(a_pod(), sight(main0=over(1, number=4, crashes=2, ago=20))).start == (
        Start("main0", 5, 3),
    )


@pytest.mark.parametrize(
    "crashes, lasted, pause",
    [(0, 5, 0), (1, 5, 10), (2, 5, 20), (5, 5, 160), (6, 5, 300), (31, 5, 300), (9, 600, 0), (1, 599, 10)],
)
def test_the_pause_doubles_up_to_five_minutes_and_a_long_run_clears_it(
    crashes: int, lasted: float, pause: float
) -> None:
    assert pause_after(over(1, crashes=crashes, lasted=lasted)) == pause


HOOKED: dict[str, Any] = {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}


def leaving(seconds_left: float, *stops: tuple[str, Stop], **attempts: Attempt) -> Sight:
    """A pod that is to go, seen at 1000 by the steady clock."""
    seen = {name: (attempt,) for name, attempt in attempts.items()}
    return Sight(NOW, seen, steady=1000.0, leave_by=1000.0 + seconds_left, stops=dict(stops))


def asked(ago: float, name: str = "main0") -> tuple[str, Stop]:
    return name, Stop(0, 1000.0 - ago, hooked=True, asked=1000.0 - ago)


def beside(pod: Pod, *numbers: int) -> Pod:
    """The pod with some of its init containers as sidecars."""
    first = [
        {**c, "restartPolicy": "Always"} if place in numbers else c
        for place, c in enumerate(pod.spec["initContainers"])
    ]
    return pod.but(spec={**pod.spec, "initContainers": first})


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
        (a_pod(), leaving(30, main0=over(0)), "Succeeded"),
        (a_pod(), leaving(30, main0=over(143)), "Failed"),
        (a_pod(), leaving(30, main0=running()), "Running"),
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
        (a_pod(init=1), sight(init0=over(0)), "PodInitializing"),
        (a_pod(), sight(main0=over(1, crashes=1)), "CrashLoopBackOff"),
        (a_pod(), Sight(NOW, lacking={"tried": ImageUnknown("no")}), "ErrImagePull"),
        (a_pod(), Sight(NOW, lacking={"other": ImageUnknown("no")}), "ContainerCreating"),
        (a_pod(init=1), Sight(NOW, lacking={"tried": ImageUnknown("no")}), "PodInitializing"),
        (a_pod(), Sight(NOW, obstacle=VolumeMissing("no")), "ContainerCreating"),
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


STARTS_SLOWLY: dict[str, Any] = {"startupProbe": {"tcpSocket": {"port": 80}}}
GREETED: dict[str, Any] = {"lifecycle": {"postStart": {"sleep": {"seconds": 1}}}}


def sidecar_pod(more: dict[str, Any]) -> Pod:
    """A sidecar, an init container, a container."""
    pod = beside(a_pod(init=2), 0)
    first, second = pod.spec["initContainers"]
    return pod.but(spec={**pod.spec, "initContainers": [first | more, second]})


def noted(**notes: Any) -> Attempt:
    return Attempt(0, State.RUNNING, started_at=NOW - 10, pid=7, notes=Notes(**notes))


@pytest.mark.parametrize(
    "more, seen, started",
    [
        ({}, sight(), ["init0"]),
        ({}, sight(init0=running()), ["init1"]),
        (STARTS_SLOWLY, sight(init0=running()), []),
        (STARTS_SLOWLY, sight(init0=noted(started=True)), ["init1"]),
        (GREETED, sight(init0=running()), []),
        (GREETED, sight(init0=noted(hooked=True)), ["init1"]),
        ({}, sight(init0=over(0), init1=running()), ["init0"]),
        ({}, sight(init0=over(0, crashes=1), init1=over(0)), ["main0"]),
        ({}, sight(init0=over(1, ago=20), init1=over(0), main0=running()), ["init0"]),
        ({}, sight(init0=running(), init1=over(1), main0=running()), []),
    ],
)
def test_a_sidecar_lets_the_next_begin_once_it_is_up_and_comes_back(
    more: dict[str, Any], seen: Sight, started: list[str]
) -> None:
    assert [s.container for s in next_step(sidecar_pod(more), seen).start] == started


def test_a_final_phase_waits_for_the_last_container() -> None:
    pod = beside(a_pod("Never", init=2), 0)
    seen = sight(init0=running(), init1=over(1))
    assert status_of(pod, seen, ADDRESSES)["phase"] == "Pending"
    seen = sight(init0=over(143), init1=over(1))
    assert status_of(pod, seen, ADDRESSES)["phase"] == "Failed"


def test_a_missing_image_keeps_only_its_own_containers_from_starting() -> None:
    seen = Sight(NOW, prepared=True, lacking={"tried": ImageUnknown("no")})
    assert next_step(a_pod(), seen).start == ()
    assert next_step(a_pod(image="other"), seen).start == (Start("main0", 0, 0),)
