"""Where pods go and what they are told when they go nowhere, word for word.

Nodes exist on paper only. They carry a taint of the tests, so that pods of others stay away from them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.objects import core
from tests.kubernetes import build
from tests.kubernetes.made_up_nodes import TOLERATED, a_node, made_up
from tests.kubernetes.rest import Rest
from tests.kubernetes.scheduler import kube_scheduler
from tests.kubernetes.waiting import until
from tests.servers import Server

Body = dict[str, Any]
NOBODY = "No preemption victims found for incoming pod"
USELESS = "Preemption is not helpful for scheduling"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
VOLUMES = "/api/v1/persistentvolumes"


@pytest.fixture(scope="module", autouse=True)
def scheduler(request: pytest.FixtureRequest, server: Server) -> Iterator[None]:
    """The embedded cluster brings its own."""
    if not request.config.getoption("--real-kubernetes"):
        yield
        return
    with (
        tempfile.TemporaryDirectory(prefix="pdc-test-") as home,
        kube_scheduler(Path(home), build.build(), server.kubeconfig),
    ):
        yield


@pytest.fixture
def pods(rest: Rest, namespace: str) -> Iterator[Pods]:
    made = Pods(rest, namespace)
    yield made
    made.clear()


class Pods:
    """The pods of a test, gone at its end even from nodes nobody looks after."""

    def __init__(self, rest: Rest, namespace: str) -> None:
        self.rest, self.namespace = rest, namespace

    def add(self, name: str, *, labels: Body | None = None, **spec: Any) -> None:
        container = {"name": "main", "image": "x", "resources": {"requests": spec.pop("requests", {})}}
        container |= spec.pop("container", {})
        body = {
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"containers": [container], "tolerations": [TOLERATED], **spec},
        }
        self.rest.post(core(self.namespace, "pods"), body).expect(201)

    def get(self, name: str) -> Body:
        found: Body = self.rest.get(core(self.namespace, "pods", name)).expect(200)
        return found

    def node(self, name: str) -> str:
        """The node of a pod, once it has one."""
        return str(until(lambda: self.get(name)["spec"].get("nodeName"), what=f"a node for {name}"))

    def told(self, name: str) -> Body:
        return next((c for c in self.get(name)["status"].get("conditions") or () if is_placing(c)), {})

    def hears(self, name: str, message: str) -> Body:
        """Its condition, once it has that message; what it says instead is shown when it never has."""
        try:
            return until(
                lambda: told if (told := self.told(name)).get("message") == message else None,
                what="the message",
                limit=10,
            )
        except TimeoutError:
            assert self.told(name).get("message") == message
            raise

    def event(self, name: str, reason: str) -> str:
        fields = f"involvedObject.name={name},reason={reason}"

        def message() -> str:
            items = self.rest.get(core(self.namespace, "events"), fieldSelector=fields).expect(200)["items"]
            return str(items[0]["message"]) if items else ""

        return until(message, what=f"an event {reason} of {name}")

    def delete(self, name: str) -> None:
        self.rest.delete(core(self.namespace, "pods", name), {"gracePeriodSeconds": 0}).expect(200)

    def clear(self) -> None:
        for pod in self.rest.get(core(self.namespace, "pods")).expect(200)["items"]:
            self.delete(pod["metadata"]["name"])


def is_placing(condition: Body) -> bool:
    return bool(condition["type"] == "PodScheduled")


def preemption(*reasons: str, nodes: int = 1) -> str:
    return f" preemption: 0/{nodes} nodes are available: {', '.join(reasons)}."


def test_a_pod_is_bound_and_told_so(rest: Rest, pods: Pods) -> None:
    with made_up(rest, [a_node("only")]):
        pods.add("p")
        assert pods.node("p") == "only"
        assert pods.told("p")["status"] == "True"
        assert pods.event("p", "Scheduled") == f"Successfully assigned {pods.namespace}/p to only"


def test_without_a_node_the_pod_hears_that(rest: Rest, pods: Pods) -> None:
    pods.add("p")
    condition = pods.hears("p", "no nodes available to schedule pods")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")


@pytest.mark.parametrize(
    "spec, message",
    [
        ({"requests": {"cpu": "5"}}, f"1 Insufficient cpu.{preemption(f'1 {NOBODY}')}"),
        (
            {"requests": {"cpu": "5", "memory": "9Gi", "nvidia.com/gpu": "1"},
             "container": {"resources": {"limits": {"nvidia.com/gpu": "1"},
                                         "requests": {"cpu": "5", "memory": "9Gi"}}}},
            "1 Insufficient cpu, 1 Insufficient memory, 1 Insufficient nvidia.com/gpu."
            + preemption(f"1 {NOBODY}"),
        ),
        (
            {"requests": {"cpu": "5"}, "priorityClassName": "gentle"},
            "1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
        ),
        (
            {"nodeSelector": {"disk": "ssd"}},
            f"1 node(s) didn't match Pod's node affinity/selector.{preemption(f'1 {USELESS}')}",
        ),
        (
            {"tolerations": []},
            f"1 node(s) had untolerated taint {{tests/made-up: yes}}.{preemption(f'1 {USELESS}')}",
        ),
        (
            {"container": {"ports": [{"containerPort": 1, "hostPort": 8080}]}},
            f"1 node(s) didn't have free ports for the requested pod ports.{preemption(f'1 {NOBODY}')}",
        ),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "lost"}}]},
            f'persistentvolumeclaim "lost" not found.{preemption(f"1 {USELESS}")}',
        ),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "unbound"}}]},
            f"pod has unbound immediate PersistentVolumeClaims.{preemption(f'1 {USELESS}')}",
        ),
    ],
)  # fmt: skip
def test_the_trouble_is_told_in_the_usual_words(rest: Rest, pods: Pods, spec: Body, message: str) -> None:
    claim = {
        "metadata": {"name": "unbound"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "no-such-class",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    rest.post(core(pods.namespace, "persistentvolumeclaims"), claim).expect(201)
    rest.post(PRIORITIES, {"metadata": {"name": "gentle"}, "value": 5, "preemptionPolicy": "Never"})
    with made_up(rest, [a_node("only")]):
        pods.add("first", container={"ports": [{"containerPort": 1, "hostPort": 8080}]})
        pods.node("first")
        pods.add("p", **spec)
        condition = pods.hears("p", f"0/1 nodes are available: {message}")
        assert condition["reason"] == "Unschedulable"
        assert pods.event("p", "FailedScheduling") == condition["message"]


def test_every_node_is_counted_with_its_own_trouble(rest: Rest, pods: Pods) -> None:
    tainted = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoExecute"}]}
    nodes = [
        a_node("a", cpu="1"),
        a_node("b", cpu="1"),
        a_node("c", spec={"unschedulable": True}),
        a_node("d", spec=tainted),
    ]
    with made_up(rest, nodes):
        pods.add("p", requests={"cpu": "2"})
        pods.hears(
            "p",
            "0/4 nodes are available: 1 node(s) had untolerated taint {gpu: yes}, "
            "1 node(s) were unschedulable, 2 Insufficient cpu."
            + preemption(f"2 {NOBODY}", f"2 {USELESS}", nodes=4),
        )


def test_pods_that_keep_apart_say_so_to_each_other(rest: Rest, pods: Pods) -> None:
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    with made_up(rest, [a_node("a")]):
        pods.add("lonely", affinity=near)
        pods.hears(
            "lonely",
            "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
            + preemption(f"1 {USELESS}"),
        )
        pods.add("first", labels={"app": "x"}, affinity=apart)
        pods.node("first")
        assert pods.node("lonely") == "a"
        pods.add("second", labels={"app": "x"}, affinity=apart)
        pods.hears(
            "second",
            "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."
            + preemption(f"1 {NOBODY}"),
        )
        pods.add("third", labels={"app": "x"})
        pods.hears(
            "third",
            "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
            + preemption(f"1 {NOBODY}"),
        )


def test_a_change_of_nodes_or_pods_brings_the_next_try(rest: Rest, pods: Pods) -> None:
    with made_up(rest, [a_node("a", spec={"unschedulable": True}), a_node("b", cpu="1")]):
        pods.add("first", requests={"cpu": "1"})
        assert pods.node("first") == "b"
        pods.add("second", requests={"cpu": "1"})
        pods.hears(
            "second",
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
            + preemption(f"1 {NOBODY}", f"1 {USELESS}", nodes=2),
        )
        pods.delete("first")
        assert pods.node("second") == "b"
        pods.add("third", requests={"cpu": "1"})
        until(lambda: pods.told("third"), what="a word to the third")
        rest.merge("/api/v1/nodes/a", {"spec": {"unschedulable": None}}).expect(200)
        assert pods.node("third") == "a"


def test_gates_and_other_schedulers_keep_a_pod_from_ours(rest: Rest, pods: Pods) -> None:
    with made_up(rest, [a_node("a")]):
        pods.add("gated", schedulingGates=[{"name": "example.com/wait"}])
        pods.add("theirs", schedulerName="somebody-else")
        condition = pods.hears("gated", "Scheduling is blocked due to non-empty scheduling gates")
        assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")
        pods.add("p")
        pods.node("p")
        assert "nodeName" not in pods.get("theirs")["spec"]
        assert pods.told("theirs") == {}
        rest.merge(core(pods.namespace, "pods", "gated"), {"spec": {"schedulingGates": []}}).expect(200)
        assert pods.node("gated") == "a"


def test_a_claim_that_waits_hears_which_node_its_pod_gets(rest: Rest, pods: Pods) -> None:
    name = f"waits-{pods.namespace}"
    body = {
        "metadata": {"name": name},
        "provisioner": "example.com/nobody",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    rest.post(CLASSES, body).expect(201)
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    rest.post(core(pods.namespace, "persistentvolumeclaims"), claim).expect(201)
    path = core(pods.namespace, "persistentvolumeclaims", "data")
    try:
        with made_up(rest, [a_node("a", labels={"disk": "hdd"}), a_node("b", labels={"disk": "ssd"})]):
            volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
            pods.add("p", volumes=volumes, nodeSelector={"disk": "ssd"})
            annotation = "volume.kubernetes.io/selected-node"
            chosen = until(
                lambda: (rest.get(path).body["metadata"].get("annotations") or {}).get(annotation),
                what="a node for the claim",
            )
            assert chosen == "b"
            assert "nodeName" not in pods.get("p")["spec"]
    finally:
        rest.delete(f"{CLASSES}/{name}")


def test_a_pod_goes_where_its_volume_is(rest: Rest, pods: Pods) -> None:
    name = f"there-{pods.namespace}"
    here = {"key": "disk", "operator": "In", "values": ["ssd"]}
    storage: Body = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": name,
    }
    volume = {
        "metadata": {"name": name},
        "spec": {
            **storage,
            "local": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": name,
            "volumeName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    rest.post(VOLUMES, volume).expect(201)
    rest.post(core(pods.namespace, "persistentvolumeclaims"), claim).expect(201)
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    try:
        with made_up(rest, [a_node("a"), a_node("b", labels={"disk": "ssd"})]):
            pods.add("p", volumes=volumes)
            assert pods.node("p") == "b"
            pods.add("q", volumes=volumes, nodeSelector={"kubernetes.io/hostname": "a"})
            pods.hears(
                "q",
                "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, "
                "1 node(s) didn't match Pod's node affinity/selector." + preemption(f"2 {USELESS}", nodes=2),
            )
    finally:
        rest.delete(f"{VOLUMES}/{name}")
