"""What a pod does next: which containers start, when, and which wait."""

from __future__ import annotations

from typing import Any

import pytest
from tests.node.seen_pods import NOW, a_pod, beside, over, running, sight

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, Notes, State
from paddlecloud.embedded.node.lifecycle import Start, Step, next_step, pause_after
from paddlecloud.embedded.node.obstacles import ImageUnknown
from paddlecloud.embedded.node.sight import Sight


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


def test_a_missing_image_keeps_only_its_own_containers_from_starting() -> None:
    seen = Sight(NOW, prepared=True, lacking={"tried": ImageUnknown("no")})
    assert next_step(a_pod(), seen).start == ()
    assert next_step(a_pod(image="other"), seen).start == (Start("main0", 0, 0),)
