"""Scenarios of PaddleJobs of Kubeflow: the user's edits, and what becomes of the job that does their work."""

from __future__ import annotations

from typing import Any

from tests.properties.edited import Editable
from tests.properties.plays import Act, Scenario, Stage
from tests.properties.portraits import Portrait

from paddlecloud.api.kubeflow import KubeflowPaddleJob
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.controllers.kubeflowjob import CONTROLLER

NAME = "simple"
TEMPLATE = {"spec": {"containers": [{"name": "paddle", "image": "example/paddle:1"}]}}
END = "2026-01-01T00:01:00Z"


def submit(**spec: Any) -> Act:
    async def act(s: Stage) -> None:
        roles = {"Master": {"template": TEMPLATE}, "Worker": {"replicas": 2, "template": TEMPLATE}}
        body = {"metadata": {"name": NAME}, "spec": {"paddleReplicaSpecs": roles, **spec}}
        await s.create(KubeflowPaddleJob, body)

    return act


def edit(**spec: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(KubeflowPaddleJob, Key(s.namespace, NAME), {"spec": spec})

    return act


def comes_to(phase: str, **told: Any) -> Act:
    """Whoever does the work says so."""

    async def act(s: Stage) -> None:
        status = {"phase": phase, "selector": "a=b", "worker": {"running": 3}, **told}
        await s.client.patch_status(PaddleJob, Key(s.namespace, NAME), status)

    return act


async def taken(s: Stage) -> None:
    """Somebody else has a job of that name."""
    worker = {"replicas": 1, "template": TEMPLATE}
    await s.create(PaddleJob, {"metadata": {"name": NAME}, "spec": {"worker": worker}})


async def freed(s: Stage) -> None:
    await s.client.delete(PaddleJob, Key(s.namespace, NAME))


async def collected(s: Stage) -> None:
    """Whoever collects garbage on this cluster has taken what the job left."""

    async def nothing_left() -> bool:
        return not await s.bodies()

    await s.until(nothing_left)


def scenario(name: str, *acts: Act) -> Scenario:
    return Scenario(name, CONTROLLER, acts)


OTHER = {"spec": {"containers": [{"name": "paddle", "image": "example/paddle:2"}]}}

SCENARIOS = (
    scenario(
        "a job of Kubeflow rests, is changed, goes on and succeeds",
        submit(runPolicy={"cleanPodPolicy": "All"}),
        comes_to("Running", startTime="2026-01-01T00:00:00Z"),
        edit(runPolicy={"suspend": True}),
        edit(paddleReplicaSpecs={"Master": {"template": OTHER}, "Worker": {"template": OTHER}}),
        edit(runPolicy={"suspend": False}),
        comes_to("Completed", completionTime=END),
    ),
    scenario(
        "a job of Kubeflow whose name is taken begins later, fails and goes",
        taken,
        submit(runPolicy={"ttlSecondsAfterFinished": 0}),
        freed,
        comes_to("Failed", completionTime=END),
        collected,
    ),
)


def timeless(end: Portrait) -> Portrait:
    """Without what only tells that the job rested while it was edited."""
    for body in end.values():
        spec = body.get("spec") or {}
        if spec.get("suspend") is False:
            del spec["suspend"]
    return end


EDITABLE = (
    Editable(
        scenario("a job of Kubeflow"),
        {
            "paddleReplicaSpecs": {
                "Worker": {"replicas": 2, "restartPolicy": "OnFailure", "template": TEMPLATE}
            },
            "runPolicy": {"cleanPodPolicy": "All", "backoffLimit": 2, "suspend": False},
            "elasticPolicy": {"minReplicas": 1, "maxReplicas": 3},
        },
        only=(
            "spec.paddleReplicaSpecs",
            "spec.elasticPolicy",
            "spec.runPolicy.cleanPodPolicy",
            "spec.runPolicy.schedulingPolicy",
        ),
        rest={"runPolicy": {"suspend": True}},
        timeless=timeless,
    ),
)
