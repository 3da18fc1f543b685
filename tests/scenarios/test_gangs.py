"""Jobs that start as a whole, on a running cluster whose room is known: it only says that it has GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import CORE, Body, job, pod, shell
from tests.scenarios.pdc_home import PdcHome, fresh_home

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key, Resource
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.scheduling import PodGroup, Queue
from paddlecloud.sdk.client import Client

GPU = "nvidia.com/gpu"
ROOM = 4
R = TypeVar("R", bound=Resource)
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
VOLCANO = {"apiVersion": "scheduling.volcano.sh/v1beta1"}


@pytest.fixture(scope="module")
def gpus() -> Iterator[PdcHome]:
    """One node that says it has four GPUs, and a queue that may use two of them."""
    with fresh_home() as made:
        made.ok("up", "--detach", "--pretend-gpus", str(ROOM))
        made.apply({**VOLCANO, "kind": "Queue", "metadata": {"name": "pair"},
                    "spec": {"capability": {GPU: 2}}})  # fmt: skip
        yield made


@pytest.fixture
def client(gpus: PdcHome) -> Iterator[Client]:
    with gpus.client() as found:
        yield found


def gang(name: str, script: str, *, workers: int, gpus: int = 1, **policy: Any) -> Body:
    body = job(name, script, workers=workers, schedulingPolicy=policy)
    [container] = body["spec"]["worker"]["template"]["spec"]["containers"]
    container["resources"] = {"limits": {GPU: gpus}}
    return body


def found(client: Client, name: str) -> PaddleJob:
    return client.get(PaddleJob, "default", name)


def wait(client: Client, name: str) -> str:
    """What a job says it waits for."""
    conditions = found(client, name).status.conditions
    return next((c.message for c in conditions if c.type == "Progressing" and c.status == "False"), "")


def pods(client: Client, name: str) -> list[Pod]:
    return [p for p in client.list(Pod, "default").items if p.name.startswith(f"{name}-worker-")]


def placed(client: Client, name: str) -> int:
    return sum(bool(p.node) and not p.finished for p in pods(client, name))


def is_phase(client: Client, name: str, phase: str) -> bool:
    return found(client, name).status.phase.value == phase


def finish(gpus: PdcHome, *names: str) -> None:
    """So that the next test finds all of the room."""
    gpus.ok("delete", *(f"job/{name}" for name in names))
    with gpus.client() as client:
        until(lambda: not any(pods(client, name) for name in names), what=f"the end of {names}")


def test_two_gangs_that_do_not_fit_together_run_one_after_the_other(
    gpus: PdcHome, client: Client, name: str
) -> None:
    first, second = f"{name}-a", f"{name}-b"
    gpus.apply(gang(first, FOREVER, workers=3))
    until(lambda: is_phase(client, first, "Running"), what="the first gang")
    gpus.apply(gang(second, "true", workers=3))
    message = until(
        lambda: wait(client, second) if "Insufficient" in wait(client, second) else "", what="why"
    )

    assert message.startswith(f"PodGroup {second} cannot start: ")
    assert f"pod {second}-worker-1: 0/1 nodes are available: 1 Insufficient {GPU}." in message
    assert placed(client, second) == 0, "one of them would fit"
    group = client.get(PodGroup, "default", second)
    assert (group.status.phase, group.spec.min_member, group.spec.min_resources) == ("Inqueue", 3, {GPU: "3"})
    gpus.ok("delete", f"job/{first}")
    until(lambda: is_phase(client, second, "Completed"), what="the second gang")
    until(lambda: client.find(PodGroup, "default", second) is None, what="the end of the group")
    finish(gpus, second)


def test_the_volcano_manifest_with_a_group_made_by_hand(gpus: PdcHome, client: Client, name: str) -> None:
    body = job(name, "true", workers=2, cleanPodPolicy="Never")
    body["spec"]["worker"]["template"]["spec"]["schedulerName"] = "volcano"
    servers = {"restartPolicy": "Never", "containers": [shell(FOREVER, image=CORE)]}
    body["spec"]["ps"] = {"replicas": 2, "template": {"spec": servers}}
    group = {**VOLCANO, "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": 4}}
    # One after the other, as `kubectl create` does it: the name must not be taken meanwhile.
    client.create(in_default(PaddleJob.read(body)))
    client.create(in_default(PodGroup.read(group)))

    until(lambda: is_phase(client, name, "Completed"), what="the job")
    mine = [p for p in client.list(Pod, "default").items if p.name.startswith(f"{name}-")]
    assert {p.spec["schedulerName"] for p in mine} == {"volcano"}
    assert {p.metadata.annotations["scheduling.k8s.io/group-name"] for p in mine} == {name}
    kept = client.get(PodGroup, "default", name)
    assert (kept.spec.min_member, kept.metadata.owner_references, len(mine)) == (4, [], 4)
    finish(gpus, name)
    assert client.find(PodGroup, "default", name) is not None, "it is not ours to delete"
    gpus.ok("delete", f"podgroup/{name}")


def test_a_gang_whose_queue_is_at_its_capability_waits_without_pods(
    gpus: PdcHome, client: Client, name: str
) -> None:
    first, second = f"{name}-a", f"{name}-b"
    gpus.apply(gang(first, FOREVER, workers=2, queue="pair"))
    until(lambda: is_phase(client, first, "Running"), what="the first gang")
    gpus.apply(gang(second, "true", workers=1, queue="pair"))
    cause = f"queue pair has 0 of its 2 {GPU} left, pod group {second} needs 1"
    until(lambda: cause in wait(client, second), what=cause)

    assert pods(client, second) == []
    assert cause in gpus.ok("why", f"job/{second}")
    status = client.get(Queue, "", "pair").status
    assert (status.state, status.running, status.pending) == ("Open", 1, 1)
    assert status.allocated[GPU] == "2"
    gpus.ok("delete", f"job/{first}")
    until(lambda: is_phase(client, second, "Completed"), what="the second gang")
    finish(gpus, second)


def test_a_gang_that_never_fits_is_told_which_pod_and_why(gpus: PdcHome, client: Client, name: str) -> None:
    gpus.apply(gang(name, "true", workers=2, gpus=ROOM))
    cause = f"pod {name}-worker-1: 0/1 nodes are available: 1 Insufficient {GPU}."
    until(lambda: cause in wait(client, name), what=cause)

    why = gpus.ok("why", f"job/{name}").splitlines()
    assert cause in why[1]
    assert [line for line in why if "└─" in line] == [f"   └─ pod/{name}-worker-1: Pending"]
    held = gpus.ok("why", f"pod/{name}-worker-0")
    assert f"podgroup/{name}: Inqueue" in held and cause in held
    # What waits holds nothing: somebody else may have it all.
    whole = {"resources": {"limits": {GPU: ROOM}}}
    gpus.apply(pod(f"{name}-single", "true", container=whole))
    single = Key("default", f"{name}-single")
    until(lambda: client.get(Pod, *single).phase == "Succeeded", what="the pod without a group")
    finish(gpus, name)


def test_a_pod_of_a_scheduler_that_nobody_runs_says_so(gpus: PdcHome, client: Client, name: str) -> None:
    gpus.apply(pod(name, "true", schedulerName="my-scheduler"))

    assert "no scheduler called my-scheduler runs here" in gpus.ok("why", f"pod/{name}")
    assert client.get(Pod, "default", name).status.get("conditions") in (None, [])
    gpus.ok("delete", f"pod/{name}")


def test_groups_and_queues_are_printed_as_volcano_has_them(gpus: PdcHome, client: Client, name: str) -> None:
    group = {**VOLCANO, "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": 4}}
    gpus.apply(group)
    until(lambda: client.get(PodGroup, "default", name).status.phase == "Inqueue", what="Inqueue")

    head, line = gpus.ok("get", "pg", name).splitlines()
    assert head.split() == ["NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE"]
    assert line.split()[:3] == [name, "Inqueue", "4"]
    assert [line.split()[0] for line in gpus.ok("get", "q").splitlines()] == ["NAME", "default", "pair"]
    gpus.ok("delete", f"podgroup/{name}")


def in_default(obj: R) -> R:
    return obj.but(metadata=obj.metadata.but(namespace="default"))
