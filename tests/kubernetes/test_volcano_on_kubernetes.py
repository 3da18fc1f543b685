"""Jobs that start as a whole, placed by a real Volcano on a real Kubernetes, our controllers beside it.

The nodes exist on paper only: who gets which of them is Volcano's to say, and no pod runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.objects import core, jobs, paddle_job, worker
from tests.kubernetes.made_up_nodes import TOLERATED, a_node, made_up
from tests.kubernetes.our_controllers import our_controllers
from tests.kubernetes.rest import Rest
from tests.kubernetes.volcano_engine import QUEUES, built, groups, is_open, volcano
from tests.kubernetes.waiting import until
from tests.servers import Server

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("engine")]
Body = dict[str, Any]
EXAMPLE = Path(__file__).parent.parent.parent / "deploy" / "examples" / "wide_and_deep_volcano.yaml"
VOLCANO = {"apiVersion": "scheduling.volcano.sh/v1beta1"}
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.fixture(scope="module")
def engine(server: Server, rest: Rest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    program = built()
    if program is None:
        pytest.skip("Volcano is not built: FULL=1 make test-kubernetes builds it")
    home = tmp_path_factory.mktemp("volcano")
    # First its kinds: controllers that find none look again only after half a minute.
    with volcano(server, rest, program, home), our_controllers(server, home / "ours"):
        yield


@pytest.fixture
def nodes(rest: Rest) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def two_workers(**spec: Any) -> Body:
    """Each asks for two processors."""
    asked = {"requests": {"cpu": "2"}}
    containers = [{"name": "paddle", "image": "example/paddle:1", "resources": asked}]
    return paddle_job("train", worker=worker(2, containers=containers, tolerations=[TOLERATED]), **spec)


class Gang:
    """The job `train` of a namespace, its group and its pods, as a client sees them."""

    def __init__(self, rest: Rest, namespace: str, name: str = "train") -> None:
        self.rest, self.namespace, self.name = rest, namespace, name
        self.job, self.group = jobs(namespace, name), groups(namespace, name)

    def phase(self) -> str:
        answer = self.rest.get(self.group)
        return str((answer.body.get("status") or {}).get("phase")) if answer.status == 200 else ""

    def waits_for(self) -> tuple[str, str]:
        status = self.rest.get(self.job).expect(200).get("status") or {}
        told = (c for c in status.get("conditions") or () if c["type"] == "Progressing")
        return next(((c["reason"], c["message"]) for c in told if c["status"] == "False"), ("", ""))

    def places(self) -> list[str]:
        """The node of each pod; empty where it has none."""
        pods = self.rest.get(core(self.namespace, "pods")).expect(200)["items"]
        return [pod["spec"].get("nodeName", "") for pod in pods]

    def all_told_to_end(self) -> bool:
        """There is no kubelet that would end them."""
        pods = self.rest.get(core(self.namespace, "pods")).expect(200)["items"]
        return all("deletionTimestamp" in pod["metadata"] for pod in pods)

    def placed(self, number: int) -> list[str]:
        def all_of_them() -> list[str] | None:
            places = self.places()
            return places if len(places) == number and all(places) else None

        return until(all_of_them, what=f"nodes for {number} pods")


def test_a_gang_gets_no_pod_before_it_fits_and_then_all_their_nodes(
    rest: Rest, namespace: str, nodes: ExitStack
) -> None:
    nodes.enter_context(made_up(rest, [a_node("v1", cpu="3")]))
    kept(nodes, rest, QUEUES, {**VOLCANO, "kind": "Queue", "metadata": {"name": "night"}, "spec": {}})
    until(lambda: is_open(rest, "night"), what="the queue night")
    kept(nodes, rest, CLASSES, {"metadata": {"name": "urgent"}, "value": 1000})
    gang = Gang(rest, namespace)
    policy = {"queue": "night", "priorityClass": "urgent"}
    rest.post(jobs(namespace), two_workers(schedulingPolicy=policy)).expect(201)

    until(lambda: gang.phase() == "Pending", what="Volcano to look at the group")
    until(lambda: gang.waits_for()[0] == "WaitingForGang", what="WaitingForGang")
    made = rest.get(gang.group).expect(200)
    assert made["spec"] == {
        "minMember": 2, "minResources": {"cpu": "4"}, "priorityClassName": "urgent", "queue": "night",
    }  # fmt: skip
    assert made["metadata"]["ownerReferences"][0]["kind"] == "PaddleJob"
    assert "not let it into queue night yet; it asks for cpu 4" in gang.waits_for()[1]
    assert gang.places() == []

    nodes.enter_context(made_up(rest, [a_node("v2", cpu="3")]))

    assert sorted(gang.placed(2)) == ["v1", "v2"]
    until(lambda: gang.phase() == "Running", what="a group that runs")
    rest.delete(gang.job).expect(200)
    until(lambda: rest.get(gang.group).status == 404, what="the end of the group")
    until(gang.all_told_to_end, what="the end of the pods")


def test_pods_that_would_fit_one_by_one_wait_for_each_other(
    rest: Rest, namespace: str, nodes: ExitStack
) -> None:
    """Together the nodes have what both ask for, so that the group is let in; only one of them has room."""
    nodes.enter_context(made_up(rest, [a_node("v1", cpu="3"), a_node("v2", cpu="1")]))
    gang = Gang(rest, namespace)
    rest.post(jobs(namespace), two_workers(schedulingPolicy={})).expect(201)

    until(lambda: "Insufficient cpu" in gang.waits_for()[1], what="Volcano's words about the pods")
    assert gang.waits_for()[0] == "Unschedulable"
    assert gang.waits_for()[1].startswith("PodGroup train cannot start: 1/2 tasks in gang unschedulable")
    assert gang.places() == ["", ""]

    nodes.enter_context(made_up(rest, [a_node("v3", cpu="2")]))

    assert sorted(gang.placed(2)) == ["v1", "v3"]
    until(lambda: gang.waits_for() == ("", ""), what="an end of the wait")


def test_a_group_that_a_person_wrote_is_used_and_left(rest: Rest, namespace: str, nodes: ExitStack) -> None:
    """The example of the documents, with pods that may use the nodes of this test."""
    job, group = yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8"))
    for role in ("ps", "worker"):
        job["spec"][role]["template"]["spec"]["tolerations"] = [TOLERATED]
    gang = Gang(rest, namespace, job["metadata"]["name"])
    rest.post(jobs(namespace), job).expect(201)
    written = rest.post(groups(namespace), group).expect(201)
    nodes.enter_context(made_up(rest, [a_node("v1", pods="3")]))
    until(lambda: "4 minAvailable" in gang.waits_for()[1], what="Volcano's words about the pods")
    assert gang.places() == [""] * 4

    nodes.enter_context(made_up(rest, [a_node("v2", pods="3")]))

    gang.placed(4)
    rest.delete(gang.job).expect(200)
    until(lambda: rest.get(gang.job).status == 404, what="the end of the job")
    left = rest.get(gang.group).expect(200)
    assert left["spec"] == written["spec"] and "ownerReferences" not in left["metadata"]


def kept(stack: ExitStack, rest: Rest, path: str, body: Body) -> None:
    """An object of the whole cluster, for the time of the test."""
    rest.post(path, body).expect(201)
    stack.callback(rest.delete, f"{path}/{body['metadata']['name']}")
