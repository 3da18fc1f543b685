"""A job whose pods have a node and cannot begin says what they lack, though no status tells."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, pods_of, seen

from paddlecloud.api.core import Event, Pod
from paddlecloud.api.paddlejob import PaddleJobStatus
from paddlecloud.cli.why import Facts, chain
from paddlecloud.controllers.jobmounts import LOOK_AGAIN, PATIENCE, question
from paddlecloud.controllers.paddlejob import asks, reconcile
from paddlecloud.controllers.startorder import GATE

LACK = 'MountVolume.SetUp failed for volume "code" : configmap "code" not found'


def waiting_pods(seconds: float, **more: Any) -> tuple[Pod, ...]:
    """Placed so long ago."""
    made = NOW - timedelta(seconds=seconds)
    return tuple(
        p.but(
            metadata=p.metadata.but(creation_timestamp=made, **more.get("metadata", {})),
            spec={**p.spec, "nodeName": more.get("node", "n")},
            status={**p.status, **more.get("status", {})},
        )
        for p in pods_of(a_job(worker=2), worker="Pending")
    )


AT_GATE = {"initContainerStatuses": [{"name": GATE, "state": {"running": {}}}]}


@pytest.mark.parametrize(
    "pods, asked, again",
    [
        (waiting_pods(1), 0, PATIENCE - 1),
        (waiting_pods(PATIENCE), 1, LOOK_AGAIN),
        (waiting_pods(PATIENCE, node=""), 0, None),
        (waiting_pods(PATIENCE, status=AT_GATE), 0, None),
        (waiting_pods(PATIENCE, metadata={"deletion_timestamp": NOW}), 0, None),
    ],
)
def test_one_that_has_waited_long_on_its_node_is_asked_about(
    pods: tuple[Pod, ...], asked: int, again: float | None
) -> None:
    job = a_job(worker=2)
    snapshot = seen(job, *pods)

    assert len(asks(job, snapshot)) == asked
    assert reconcile(job, snapshot).check_again == again


@pytest.mark.parametrize("answer, told", [(LACK, f"pod wide-deep-worker-0 cannot start: {LACK}"), (None, "")])
def test_what_the_node_says_is_what_the_job_waits_for(answer: str | None, told: str) -> None:
    job, pods = a_job(worker=2), waiting_pods(PATIENCE)
    status = reconcile(job, seen(job, *pods, answers={question(pods[0]): answer})).status

    assert isinstance(status, PaddleJobStatus)
    assert [(c.message, c.status) for c in status.conditions] == [(told, "False" if told else "True")]


def test_why_names_what_is_lacking_and_not_that_containers_are_not_up() -> None:
    unready = {"type": "Ready", "status": "False", "message": "containers with unready status: [m]"}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "x-0", "uid": "u"},
        "status": {"phase": "Pending", "conditions": [unready]},
    }
    said = Event(involved_object={"uid": "u"}, type="Warning", reason="FailedMount", message=LACK)

    assert chain(pod, Facts({"u": pod}, (said,))) == ["pod/x-0: Pending", f"   FailedMount: {LACK}"]
    assert chain(pod, Facts({"u": pod})) == ["pod/x-0: Pending", f"   {unready['message']}"]
