"""Our controllers, unchanged and with the rights they are shipped with, on a real Kubernetes.

There is no kubelet: a simulated node says what becomes of pods. What takes one is a contract of nodes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.contracts.objects import core, jobs, paddle_job, worker
from tests.kubernetes.our_controllers import our_controllers
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.properties.simulated_node import SimulatedNode
from tests.servers import Server

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("controllers")]


@pytest.fixture(scope="module")
def controllers(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with our_controllers(server, tmp_path_factory.mktemp("controllers")):
        yield


@pytest.fixture
async def node(access: Access, namespace: str) -> AsyncIterator[SimulatedNode]:
    async with Client(access) as client:
        simulated = SimulatedNode(client, namespace)
        playing = asyncio.create_task(simulated.run())
        yield simulated
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing


class Watched:
    """One job and its pods, as a client sees them."""

    def __init__(self, rest: Rest, namespace: str, **spec: Any) -> None:
        self.rest, self.namespace, self.path = rest, namespace, jobs(namespace, "train")
        rest.post(jobs(namespace), paddle_job("train", **spec), fieldValidation="Strict").expect(201)

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.rest.get(self.path).expect(200).get("status") or {}
        return found

    def pods(self) -> dict[str, dict[str, Any]]:
        items = self.rest.get(core(self.namespace, "pods")).expect(200)["items"]
        return {pod["metadata"]["name"]: pod for pod in items}

    def uids(self) -> set[str]:
        return {pod["metadata"]["uid"] for pod in self.pods().values()}

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        await asyncio.to_thread(until, condition, what=f"{what}; it is {self.status()}")

    async def comes_to(self, phase: str, **wanted: Any) -> dict[str, Any]:
        def says() -> bool:
            status = self.status()
            return all(status.get(key) == value for key, value in {"phase": phase, **wanted}.items())

        await self.until(says, f"{phase} {wanted}")
        return self.status()


async def test_a_job_with_servers_runs_its_course(rest: Rest, namespace: str, node: SimulatedNode) -> None:
    job = Watched(rest, namespace, ps=worker(1), worker=worker(2), cleanPodPolicy="Always")
    status = await job.comes_to("Running")
    assert (status["mode"], status["ps"]["ready"], status["worker"]["ready"]) == ("PS", "1/1", "2/2")
    addresses = [pod["status"]["podIP"] for name, pod in sorted(job.pods().items()) if "worker" in name]
    data = rest.get(core(namespace, "configmaps", "train")).expect(200)["data"]
    assert data["PADDLE_TRAINERS"] == ",".join(addresses)

    node.end("train-worker-*")

    await job.comes_to("Completed")
    await job.until(lambda: not job.pods(), "no pods are left")


async def test_a_killed_worker_takes_all_back_to_the_start(
    rest: Rest, namespace: str, node: SimulatedNode
) -> None:
    job = Watched(rest, namespace, worker=worker(2))
    await job.comes_to("Running")
    before = job.uids()

    node.end("train-worker-1", 137)

    await job.comes_to("Running", restarts=1, attempt=1)
    assert not before & job.uids()


async def test_an_elastic_job_changes_its_size(rest: Rest, namespace: str, node: SimulatedNode) -> None:
    job = Watched(rest, namespace, elastic=1, worker={**worker(2), "requests": 1, "limits": 3})
    await job.comes_to("Running")
    for attempt, number in enumerate((3, 2), 1):
        rest.merge(f"{job.path}/scale", {"spec": {"replicas": number}}).expect(200)

        await job.comes_to("Running", attempt=attempt)
        expected = [str(rank) for rank in range(number)]
        await job.until(lambda wanted=expected: ranks(job) == wanted, f"{number} ranks")  # type: ignore[misc]
        await job.until(lambda wanted=number: ready(job) == f"{wanted}/{wanted}", "all ready")  # type: ignore[misc]


async def test_a_job_of_kubeflow_is_done_by_ours(rest: Rest, namespace: str, node: SimulatedNode) -> None:
    path = f"/apis/kubeflow.org/v1/namespaces/{namespace}/paddlejobs"
    body = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "theirs"},
        "spec": {"paddleReplicaSpecs": {"Worker": worker(2)}},
    }

    async def says(state: str) -> None:
        def last() -> bool:
            told = rest.get(f"{path}/theirs").expect(200).get("status") or {}
            return [c["type"] for c in told.get("conditions") or ()][-1:] == [state]

        await asyncio.to_thread(until, last, what=state)

    rest.post(path, body, fieldValidation="Strict").expect(201)
    await says("Running")
    node.end("theirs-worker-*")
    await says("Succeeded")
    rest.delete(f"{path}/theirs").expect(200)
    await asyncio.to_thread(
        until, lambda: rest.get(jobs(namespace, "theirs")).status == 404, what="the end of ours"
    )


def ranks(job: Watched) -> list[str]:
    told = (pod["metadata"]["annotations"] for pod in job.pods().values())
    return sorted(annotations.get("batch.paddlepaddle.org/rank", "") for annotations in told)


def ready(job: Watched) -> str:
    return str(job.status().get("worker", {}).get("ready"))
