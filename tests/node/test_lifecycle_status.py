"""What a pod says of itself: phase, conditions, what its containers wait for."""

from __future__ import annotations

from typing import Any

import pytest
from tests.node.seen_pods import ADDRESSES, NOW, a_pod, beside, leaving, over, running, sight

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, State
from paddlecloud.embedded.node.obstacles import ConfigMissing, ImageUnknown, VolumeMissing
from paddlecloud.embedded.node.podstatus import status_of
from paddlecloud.embedded.node.sight import Sight


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


def test_a_final_phase_waits_for_the_last_container() -> None:
    pod = beside(a_pod("Never", init=2), 0)
    seen = sight(init0=running(), init1=over(1))
    assert status_of(pod, seen, ADDRESSES)["phase"] == "Pending"
    seen = sight(init0=over(143), init1=over(1))
    assert status_of(pod, seen, ADDRESSES)["phase"] == "Failed"
