"""Our scheduler and the real one are given the same nodes and pods, and must agree on every pod.

The pods come one after the other and are made by chance from a fixed seed; ours decides on the objects as
the server shows them at that moment. Which of several good nodes is the best is the one thing left open.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.objects import core
from tests.kubernetes import build
from tests.kubernetes.made_up_nodes import TOLERATED, a_node, made_up
from tests.kubernetes.rest import Rest
from tests.kubernetes.scheduler import kube_scheduler
from tests.kubernetes.waiting import until
from tests.servers import Server

from paddlecloud.api.core import Namespace, Node, Pod
from paddlecloud.scheduler.board import board_of
from paddlecloud.scheduler.fitting import company_of, node_misfit
from paddlecloud.scheduler.needs import needs_of
from paddlecloud.scheduler.placement import World, place

pytestmark = pytest.mark.kubernetes
Body = dict[str, Any]
PODS = 60


@pytest.fixture(scope="module")
def scheduler(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with kube_scheduler(tmp_path_factory.mktemp("scheduler"), build.build(), server.kubeconfig):
        yield


def nodes() -> list[Body]:
    tainted: Body = {"taints": [{"key": "gpu", "value": "v100", "effect": "NoSchedule"}]}
    return [
        a_node("n1", labels={"zone": "a", "disk": "ssd", "rank": "1"}, cpu="2", memory="4Gi"),
        a_node("n2", labels={"zone": "a", "disk": "hdd", "rank": "5"}, cpu="3", memory="2Gi", pods="6"),
        a_node("n3", labels={"zone": "b", "rank": "9"}, cpu="8", **{"nvidia.com/gpu": "2"}, spec=tainted),
        a_node("n4", labels={"zone": "b", "disk": "ssd"}, cpu="1", memory="16Gi"),
        a_node("n5", labels={"zone": "c"}, spec={"unschedulable": True}),
    ]


def requirement(chance: random.Random) -> Body:
    key = chance.choice(["zone", "disk", "rank"])
    operator = chance.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    if operator in ("Gt", "Lt"):
        return {"key": "rank", "operator": operator, "values": [chance.choice(["0", "4", "9"])]}
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    values = {"zone": ["a", "b"], "disk": ["ssd", "hdd"], "rank": ["1", "5"]}[key]
    return {"key": key, "operator": operator, "values": chance.sample(values, chance.randint(1, 2))}


def node_affinity(chance: random.Random) -> Body:
    terms: list[Body] = [
        {"matchExpressions": [requirement(chance) for _ in range(chance.randint(1, 2))]}
        for _ in range(chance.randint(1, 2))
    ]
    if chance.random() < 0.3:
        named = chance.sample(["n1", "n3", "n4", "ghost"], chance.randint(1, 2))
        for term in terms:
            term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": named[:1]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def pod_terms(chance: random.Random) -> Body:
    term: Body = {
        "labelSelector": chance.choice(
            [
                {"matchLabels": {"app": chance.choice("xyz")}},
                {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]},
                {},
            ]
        ),
        "topologyKey": chance.choice(["zone", "disk", "kubernetes.io/hostname"]),
    }
    if chance.random() < 0.3:
        term["namespaceSelector"] = chance.choice([{}, {"matchLabels": {"no": "such"}}])
    terms = [term]
    if chance.random() < 0.2:
        terms.append({"labelSelector": {"matchLabels": {"tier": "1"}}, "topologyKey": "zone"})
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def a_pod(number: int, chance: random.Random) -> Body:
    def sometimes(likelihood: float) -> bool:
        return chance.random() < likelihood

    def container(name: str) -> Body:
        asked: Body = {
            "cpu": chance.choice(["50m", "100m", "1", "3"]),
            "memory": chance.choice(["1Mi", "1Gi"]),
        }
        if sometimes(0.15):
            asked |= {"nvidia.com/gpu": "1"}
        limits = {k: v for k, v in asked.items() if "/" in k}
        return {"name": name, "image": "x", "resources": {"requests": asked, "limits": limits}}

    spec: Body = {"containers": [container("main")], "tolerations": [TOLERATED]}
    if sometimes(0.2):
        sidecar = {**container("side"), "restartPolicy": "Always"}
        spec["initContainers"] = chance.sample([sidecar, container("init")], chance.randint(1, 2))
    if sometimes(0.3):
        spec["tolerations"].append({"key": "gpu", "value": "v100", "effect": "NoSchedule"})
    if sometimes(0.1):
        spec["tolerations"].append({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"})
    if sometimes(0.2):
        spec["nodeSelector"] = chance.choice([{"zone": "a"}, {"disk": "ssd"}, {"zone": "b", "disk": "ssd"}])
    if sometimes(0.15):
        port = {"containerPort": 80, "hostPort": chance.choice([80, 81])}
        spec["containers"][0]["ports"] = [port | ({"hostIP": "127.0.0.9"} if sometimes(0.5) else {})]
    affinity: Body = {}
    if sometimes(0.3):
        affinity["nodeAffinity"] = node_affinity(chance)
    if sometimes(0.25):
        affinity["podAffinity"] = pod_terms(chance)
    if sometimes(0.25):
        affinity["podAntiAffinity"] = pod_terms(chance)
    labels = {"app": chance.choice("xyz"), "tier": chance.choice("12")}
    return {
        "metadata": {"name": f"p{number:03}", "labels": labels},
        "spec": {**spec, "affinity": affinity, "terminationGracePeriodSeconds": 0},
    }


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_schedulers_agree_on_every_pod(rest: Rest, namespace: str, seed: int) -> None:
    chance = random.Random(seed)
    places: dict[str, str] = {}
    with made_up(rest, nodes()):
        try:
            for number in range(PODS):
                body = rest.post(core(namespace, "pods"), a_pod(number, chance)).expect(201)
                agree(rest, namespace, body, places)
        finally:
            for pod in rest.get(core(namespace, "pods")).expect(200)["items"]:
                rest.delete(core(namespace, "pods", pod["metadata"]["name"]), {"gracePeriodSeconds": 0})
    assert 10 < len(places) < PODS, "the chances are such that some find a node and some do not"


def agree(rest: Rest, namespace: str, body: Body, places: dict[str, str]) -> None:
    """Compare both on one pod; one that finds no node is taken away again."""
    name = body["metadata"]["name"]
    pod = Pod.read(body)
    board = board_of(
        [Node.read(n) for n in rest.get("/api/v1/nodes").expect(200)["items"]],
        [Pod.read(p) for p in rest.get("/api/v1/pods").expect(200)["items"] if p["metadata"]["name"] != name],
    )
    found = {n["metadata"]["name"]: Namespace.read(n) for n in rest.get("/api/v1/namespaces").body["items"]}
    world = World(namespaces={k: v.metadata.labels for k, v in found.items()})
    [ours] = place([pod], board, world)
    theirs, message = until(lambda: answer(rest, namespace, name), what=f"a word about {name}")
    assert bool(ours.node) == bool(theirs), f"{name}: ours {ours}, theirs {theirs or message}: {body['spec']}"
    assert ours.message == message, body["spec"]
    if theirs:
        places[name] = theirs
        board.remove(pod.key)
        needs, room = needs_of(pod, {}), board.rooms[theirs]
        company = company_of(needs, board)
        assert node_misfit(needs, room) is None
        assert company is None or company.misfit(room.node.metadata.labels) is None
    else:
        rest.delete(core(namespace, "pods", name), {"gracePeriodSeconds": 0}).expect(200)


def answer(rest: Rest, namespace: str, name: str) -> tuple[str, str] | None:
    pod = rest.get(core(namespace, "pods", name)).expect(200)
    for condition in pod["status"].get("conditions") or ():
        if condition["type"] == "PodScheduled":
            return pod["spec"].get("nodeName", ""), condition.get("message", "")
    return None
