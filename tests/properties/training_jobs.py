"""Scenarios of PaddleJobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.contracts.objects import paddle_job, worker
from tests.properties.edited import Editable
from tests.properties.plays import Act, Scenario, Stage
from tests.properties.portraits import Portrait

from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.controllers import paddlejob
from paddlecloud.controllers.attempts import mark_of
from paddlecloud.controllers.joblimits import SUSPENDED
from paddlecloud.controllers.joblogs import LABEL
from paddlecloud.controllers.jobports import PORTS_A_JOB, port_of
from paddlecloud.controllers.startorder import START

NAME = "train"
CONTAINERS = [{"name": "paddle", "image": "example/paddle:1"}]


def role(replicas: int = 1) -> dict[str, Any]:
    # A scheduler nobody runs: only the simulated node places them.
    return worker(replicas, schedulerName="nobody", containers=CONTAINERS)


def submit(**spec: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.create(PaddleJob, paddle_job(NAME, **spec))

    return act


def edit(**spec: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(PaddleJob, Key(s.namespace, NAME), {"spec": spec})

    return act


def end(pods: str, code: int = 0) -> Act:
    async def act(s: Stage) -> None:
        s.node.end(f"{NAME}-{pods}", code)

    return act


async def collected(s: Stage) -> None:
    """Whoever collects garbage on this cluster has taken what the job left."""

    async def nothing_left() -> bool:
        return not await s.bodies()

    await s.until(nothing_left)


def own(s: Stage) -> Mapping[str, str]:
    """The ports of a job follow from its uid, the fingerprints of its peers from theirs."""
    [job] = s.runtime.informers[PaddleJob].all() or [None]
    first = port_of(job) if job else 0
    pods = sorted(s.node.pods.all(), key=lambda pod: pod.name)
    peers = dict.fromkeys(mark.peers for pod in pods if (mark := mark_of(pod)) and mark.peers)
    return {
        **({str(first + n): f"<port {n}>" for n in range(PORTS_A_JOB)} if first else {}),
        **{print_: f"<peers {n}>" for n, print_ in enumerate(peers)},
    }


def scenario(name: str, *acts: Act) -> Scenario:
    return Scenario(name, paddlejob.CONTROLLER, acts, own)


SCENARIOS = (
    scenario(
        "a PS job completes after a worker was killed and came back",
        submit(ps=role(), worker=role()),
        end("worker-0", 137),
        end("worker-0"),
    ),
    scenario(
        "a Collective job begins again once, fails and is cleaned up",
        submit(worker=role(2), backoffLimit=1, cleanPodPolicy="Always"),
        end("worker-0", 1),
        end("worker-1", 1),
    ),
    scenario(
        "a job that calls its peers by name rests, goes on, completes and goes",
        submit(worker=role(), intranet="Service", cleanPodPolicy="Never", ttlSecondsAfterFinished=0),
        edit(suspend=True),
        edit(suspend=False),
        end("worker-0"),
        collected,
    ),
    scenario(
        "an elastic job grows and shrinks",
        submit(worker=role(1), elastic=1),
        edit(worker={"replicas": 2}),
        edit(worker={"replicas": 1}),
    ),
)


async def same_addresses(s: Stage) -> None:
    """What a job was before does not show in the addresses of its pods."""
    s.node.reuses_addresses = True


def timeless(end: Portrait) -> Portrait:
    """Without the number of the attempt, that the job once rested, and what its former pods had said."""
    end = {name: body for name, body in end.items() if LABEL not in (body["metadata"].get("labels") or {})}
    for body in end.values():
        status, annotations = body.get("status") or {}, body["metadata"].get("annotations") or {}
        if body["kind"] == "PaddleJob":
            status.pop("attempt", None)
            status["conditions"] = [c for c in status["conditions"] if c["type"] != SUSPENDED]
        elif START in annotations:
            annotations[START] = annotations[START].partition(".")[2]
    return end


EDITABLE = (
    Editable(
        scenario("a job of three roles", same_addresses),
        {
            "ps": role(),
            "worker": role(),
            "heter": role(),
            "intranet": "PodIP",
            "withGloo": 1,
            "cleanPodPolicy": "OnCompletion",
            "suspend": False,
            "backoffLimit": 2,
        },
        samples={"spec.activeDeadlineSeconds": 3600, "spec.schedulingPolicy": {"minAvailable": 1}},
        rest={"suspend": True},
        timeless=timeless,
    ),
    Editable(
        scenario("an elastic job", same_addresses),
        {"worker": {**role(2), "requests": 1, "limits": 3}, "elastic": 1},
        only=("spec.worker", "spec.elastic"),
        rest={"suspend": True},
        timeless=timeless,
    ),
)
