"""Scenarios of SampleSets and SampleJobs; their runtimes are played."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from tests.properties.edited import Editable
from tests.properties.plays import Act, Scenario, Stage

from paddlecloud.api.core import Pod, Secret, StatefulSet
from paddlecloud.api.meta import Key
from paddlecloud.api.samplejob import SampleJob
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.controllers import samplejob, sampleset
from paddlecloud.controllers.datadepartures import LEAVING
from paddlecloud.controllers.datavolumes import LABEL
from paddlecloud.controllers.sampleoperations import operation_name

NAME = "it"
SPEC: dict[str, Any] = {"source": {"uri": "s3://bucket/digits"}, "csi": {"driver": "local"}, "partitions": 2}


def submit(**spec: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.create(SampleSet, {"metadata": {"name": NAME}, "spec": SPEC | spec})

    return act


def edit(**spec: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(SampleSet, Key(s.namespace, NAME), {"spec": spec})

    return act


async def ready(s: Stage) -> None:
    """Whoever binds claims and makes pods on this cluster has done so, and the runtimes as they were told."""

    async def is_ready() -> bool:
        [data] = (await s.client.list(SampleSet, s.namespace)).items
        runtime = await s.client.find(StatefulSet, s.namespace, f"{data.name}-runtime")
        there = runtime.status.get("replicas") if runtime else None
        seen = data.status.observed_generation == data.metadata.generation
        leaving = any(c.type == LEAVING for c in data.status.conditions)
        return seen and data.status.phase == "Ready" and there == data.spec.partitions and not leaving

    await s.until(is_ready)


async def stands(s: Stage) -> None:
    """A set that is Ready with one runtime, made by hand."""
    runtime = f"{NAME}-runtime"
    token = base64.b64encode(b"a-token").decode()
    await s.create(Secret, {"metadata": {"name": runtime}, "data": {"token": token}})
    await s.create(SampleSet, {"metadata": {"name": NAME}, "spec": SPEC | {"partitions": 1}})
    told = {"phase": "Ready", "engine": "local", "cacheStatus": {"partitions": [{"name": f"{runtime}-0"}]}}
    await s.client.patch_status(SampleSet, Key(s.namespace, NAME), told)
    pod = {"schedulerName": "nobody", "containers": [{"name": "runtime", "image": "i"}]}
    await s.create(Pod, {"metadata": {"name": f"{runtime}-0", "labels": {LABEL: NAME}}, "spec": pod})


def job(name: str, kind: str, **spec: Any) -> Act:
    async def act(s: Stage) -> None:
        body = {"type": kind, "sampleSetRef": {"name": NAME}, **spec}
        await s.create(SampleJob, {"metadata": {"name": name}, "spec": body})

    return act


def edit_job(name: str, **spec: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(SampleJob, Key(s.namespace, name), {"spec": spec})

    return act


def own(s: Stage) -> Mapping[str, str]:
    """Operations are called after the uid of their job."""
    jobs = s.runtime.informers[SampleJob].all()
    return {operation_name(one): f"<{one.name}>" for one in jobs}


SCENARIOS = (
    Scenario(
        "a data set is copied to two nodes and leaves one of them",
        sampleset.CONTROLLER,
        (submit(), ready, edit(partitions=1), ready),
        near=0.3,
        asks=True,
    ),
    Scenario(
        "jobs on a data set: one waits for it, one is mistaken and then corrected, one ends the others",
        samplejob.CONTROLLER,
        (
            job("sync", "sync"),
            stands,
            job("remove", "rmr", rmrOptions={"paths": ["../a"]}),
            edit_job("remove", rmrOptions={"paths": ["a"]}),
            job("warm", "warmup", terminate=True, warmupOptions={"strategyName": "random"}),
        ),
        own=own,
        asks=True,
    ),
)

EDITABLE = (
    Editable(
        Scenario("a data set", sampleset.CONTROLLER, (), asks=True),
        SPEC,
        only=("spec.partitions",),
        comes_to=ready,
    ),
)
