"""Ports of jobs on the addresses of their nodes: each its own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, a_role, metadata, pods_of, seen

from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.controllers.endpoints import endpoints
from paddlecloud.controllers.jobpods import make_pod
from paddlecloud.controllers.jobports import BLOCKS, FIRST_PORT, PORTS_A_JOB, block, draw, port_of
from paddlecloud.controllers.paddlejob import reconcile, related


def on_hosts(name: str, **status: Any) -> PaddleJob:
    body = {"metadata": metadata(name), "spec": {"intranet": "Host", "worker": a_role(1)}, "status": status}
    return PaddleJob.read(body)


def decided(job: PaddleJob, *others: PaddleJob) -> tuple[PaddleJobStatus, list[str]]:
    decision = reconcile(job, seen(job, related=others))
    assert isinstance(decision.status, PaddleJobStatus)
    return decision.status, [c.kind for c in decision.children]


def test_a_port_is_written_down_before_there_are_pods() -> None:
    job = on_hosts("a")
    status, children = decided(job, job)
    assert status.port == port_of(job) and children == []

    status, children = decided(on_hosts("a", port=status.port), job)
    assert status.port == port_of(job) and children == ["Pod"]


def test_whoever_sees_another_with_its_port_draws_again() -> None:
    mine, other = on_hosts("a", port=20_040), on_hosts("b", port=20_040)
    status, children = decided(mine, mine, other)
    assert status.port not in (0, 20_040) and children == []
    assert (status.port - FIRST_PORT) % PORTS_A_JOB == 0


@pytest.mark.parametrize(
    "other",
    [on_hosts("b", port=20_040, phase="Completed"), a_job(worker=1, status={"port": 20_040})],
    ids=["ended", "with addresses of its own"],
)
def test_who_holds_no_port_of_the_node_is_in_nobodys_way(other: PaddleJob) -> None:
    status, children = decided(on_hosts("a", port=20_040), other)
    assert status.port == 20_040 and children == ["Pod"]


def test_pods_that_may_share_a_node_listen_on_ports_of_their_own() -> None:
    job = a_job(intranet="Host", ps=2, worker=2, withGloo=1, status={"port": 20_040})
    pods = {p.name: p for p in pods_of(job, ps="Running", worker="Running")}
    [written] = endpoints(job, pods)
    assert [e.rpartition(":")[2] for e in written.data["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")] == [
        "20040",
        "20041",
    ]
    assert written.data["PADDLE_TRAINER_ENDPOINTS"].endswith(":20043")
    assert written.data["PADDLE_GLOO_HTTP_ENDPOINT"].endswith(":20058")
    [container] = make_pod(job, "worker", 1).spec["containers"]
    assert container["ports"][0]["hostPort"] == 20_043
    assert {"name": "PADDLE_PORT", "value": "20043"} in container["env"]


def test_when_all_are_taken_the_job_says_so() -> None:
    others = [on_hosts(f"b{i}", port=block(i)) for i in range(BLOCKS)]
    job = on_hosts("a")
    assert draw(job, others) is None
    decision = reconcile(job, seen(job, related=others, now=NOW))
    assert isinstance(decision.status, PaddleJobStatus)
    assert [c.reason for c in decision.status.conditions] == ["NoPorts"]


def test_only_jobs_on_nodes_look_at_the_others() -> None:
    assert related(a_job(worker=1)) == () and len(related(on_hosts("a"))) == 1
