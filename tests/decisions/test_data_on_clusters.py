"""Data sets on clusters that are not ours: engines that are not installed, nodes that only tell in events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.decisions.builders import (
    JUICEFS,
    NAMESPACE,
    a_claim,
    a_data_set,
    a_runtime,
    condition_of,
    named,
    seen,
    the_runtimes,
    with_stored,
)

from paddlecloud.api.core import Node, PersistentVolume, Pod
from paddlecloud.api.sampleset import SampleSetStatus
from paddlecloud.controllers.contract import Decision, Snapshot, WarningQuestion
from paddlecloud.controllers.dataengines import INSTALL
from paddlecloud.controllers.dataruntimes import make_runtime
from paddlecloud.controllers.sampleset import questions, reconcile

NO_FOLDER = 'MountVolume.SetUp failed for volume "source" : hostPath type check failed: /data is no directory'
NO_IMAGE = 'failed to pull image "paddlecloud/data"'
A_NODE = Node.read({"metadata": {"name": "worker-1"}})
WAITS = {"state": {"waiting": {"reason": "ContainerCreating"}}, "name": "runtime"}
LACKS_IMAGE = {
    "state": {"waiting": {"reason": "ErrImagePull", "message": NO_IMAGE}},
    "name": "runtime",
}


def without_driver(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, related=tuple(r for r in snapshot.related if r is not JUICEFS))


def status_of(decision: Decision) -> SampleSetStatus:
    assert isinstance(decision.status, SampleSetStatus)
    return decision.status


def test_a_set_whose_engine_is_not_installed_says_how_to_install_it_and_makes_nothing() -> None:
    data = a_data_set(csi={"driver": "juicefs"})
    missing = without_driver(seen(data, related=[A_NODE]))
    decision = reconcile(data, missing)

    told = condition_of(decision, "Progressing")
    assert (told.status, told.reason) == ("False", "EngineMissing") and INSTALL in told.message
    assert named(decision) == [] and decision.check_again is None, "the driver that comes is seen"
    assert [(n.type, n.reason) for n in decision.notes] == [("Warning", "EngineMissing")]
    assert "engine" not in status_of(decision).wire(), "the user may still choose another"
    stored = with_stored(data, decision)
    assert not reconcile(stored, missing).notes

    on = reconcile(stored, seen(stored, related=[A_NODE]))
    assert status_of(on).engine == "juicefs" and "PersistentVolume/ml-digits" in named(on)


def test_a_driver_that_goes_takes_nothing_from_a_set_that_has_begun() -> None:
    data = a_data_set("Ready", csi={"driver": "juicefs"}, status={"engine": "juicefs"})
    around = seen(data, a_claim(), the_runtimes(), related=[a_runtime()])
    decision = reconcile(data, without_driver(around))

    assert "StatefulSet/digits-runtime" in named(decision)
    assert status_of(decision).engine == "juicefs" and status_of(decision).phase == "Ready"


@pytest.mark.parametrize(
    "phase, claimed",
    [("", False), ("Pending", False), ("Available", True), ("Bound", True), ("Released", False)],
)
def test_a_claim_is_made_when_who_binds_it_has_seen_the_volume(phase: str, claimed: bool) -> None:
    volume = PersistentVolume.read({"metadata": {"name": "ml-digits"}, "status": {"phase": phase}})
    data = a_data_set()

    assert ("PersistentVolumeClaim/digits" in named(reconcile(data, seen(data, volume)))) is claimed


@pytest.mark.parametrize(
    "driver, installed, engine",
    [("auto", True, "juicefs"), ("auto", False, "local"), ("local", False, "local")],
)
def test_nodes_that_say_nothing_of_fuse_leave_it_to_the_driver(
    driver: str, installed: bool, engine: str
) -> None:
    data = a_data_set(csi={"driver": driver}, secretRef={"name": "keys"})
    around = seen(data, related=[A_NODE])

    assert status_of(reconcile(data, around if installed else without_driver(around))).engine == engine


def pending(*statuses: dict[str, Any], **status: Any) -> Pod:
    pod = a_runtime(phase="Pending")
    return pod.but(status={**pod.status, "containerStatuses": list(statuses), **status})


def asked_of(pod: Pod) -> list[WarningQuestion]:
    around = seen(None, the_runtimes(), related=[pod])
    return [q for q in questions(a_data_set(), around) if isinstance(q, WarningQuestion)]


OF_THE_POD = WarningQuestion(NAMESPACE, "uid-digits-runtime-0")
NO_ROOM = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}


@pytest.mark.parametrize(
    "pod, asked",
    [
        (pending(WAITS), [OF_THE_POD]),
        (pending(LACKS_IMAGE), []),
        (a_runtime(phase="Pending", nodeName=""), []),
        (a_runtime(), []),
    ],
)
def test_warnings_are_asked_for_where_the_pod_itself_says_nothing(
    pod: Pod, asked: list[WarningQuestion]
) -> None:
    assert asked_of(pod) == asked


@pytest.mark.parametrize(
    "pod, warning, phase, said",
    [
        (pending(WAITS), NO_FOLDER, "SyncFailed", "the source file:///data/digits is missing"),
        (pending(WAITS), "no such driver", "Mount", "digits-runtime-0 is Pending (no such driver)"),
        (pending(WAITS), None, "Mount", "digits-runtime-0 is Pending"),
        (pending(LACKS_IMAGE), None, "Mount", NO_IMAGE),
        (pending(conditions=[NO_ROOM]), None, "Mount", "0/1 nodes are available"),
        (pending(WAITS), "x" * 9000, "Mount", "xx…"),
    ],
)
def test_what_keeps_a_runtime_from_starting_is_said(
    pod: Pod, warning: str | None, phase: str, said: str
) -> None:
    data = a_data_set()
    answers = {OF_THE_POD: warning}
    decision = reconcile(data, seen(data, a_claim(), the_runtimes(), related=[pod], answers=answers))

    assert status_of(decision).phase == phase
    assert said in condition_of(decision, "Progressing").message


def test_a_runtime_needs_no_privilege_and_no_registry_that_has_its_image() -> None:
    [container] = make_runtime(a_data_set(), "local", ()).spec["template"]["spec"]["containers"]

    context = container["securityContext"]
    assert context["allowPrivilegeEscalation"] is False and context["capabilities"]["drop"] == ["ALL"]
    assert "SYS_ADMIN" not in context["capabilities"]["add"]
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}} in container["env"]
