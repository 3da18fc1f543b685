"""Scenarios of the kinds beside PaddleJob, each through most of its life."""

from __future__ import annotations

import json
from typing import Any

from tests.properties.plays import Act, Scenario, Stage

from paddlecloud.api.core import ConfigMap, PersistentVolumeClaim, Pod, StatefulSet
from paddlecloud.api.meta import Key, Resource
from paddlecloud.api.model import AliasChange, Model, ModelVersion
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.api.workflowrun import Graph, WorkflowRun
from paddlecloud.controllers import (
    model,
    modelconversions,
    modelpods,
    modelversion,
    paddleservice,
    sampleset,
    workflowrun,
)
from paddlecloud.sdk import releasing

NAME = "it"
GRAPH = Graph.model_validate(
    {
        "name": "two",
        "steps": [
            {"name": "first", "image": "i", "command": ["make"], "outputs": ["path"]},
            {
                "name": "second",
                "image": "i",
                "command": ["use", "{{path}}"],
                "inputs": {"path": {"output": "first.path"}},
            },
        ],
    }
)
PIPELINE = {"name": GRAPH.name, "digest": GRAPH.digest()}


def make(kind: type[Resource], spec: dict[str, Any]) -> Act:
    async def act(s: Stage) -> None:
        await s.create(kind, {"metadata": {"name": NAME}, "spec": spec})

    return act


def write(name: str, data: dict[str, str]) -> Act:
    """A ConfigMap of somebody else, made or filled in."""

    async def act(s: Stage) -> None:
        key = Key(s.namespace, name)
        if await s.client.find(ConfigMap, *key):
            await s.client.patch(ConfigMap, key, {"data": data})
        else:
            await s.create(ConfigMap, {"metadata": {"name": name}, "data": data})

    return act


def end(pods: str, code: int = 0, message: str = "") -> Act:
    async def act(s: Stage) -> None:
        s.node.end(pods, code, message=message)

    return act


async def nobody_answers(s: Stage) -> None:
    """The controller asks the pods, and finds nothing that listens there."""
    s.node.network = 127


async def claimed(s: Stage) -> None:
    """Whoever binds claims on this cluster has done so, and the runtime is there and silent."""

    async def bound() -> bool:
        claim = await s.client.find(PersistentVolumeClaim, s.namespace, NAME)
        runtime = await s.client.find(StatefulSet, s.namespace, f"{NAME}-runtime")
        return claim is not None and claim.bound and runtime is not None and up(runtime)

    def up(runtime: StatefulSet) -> bool:
        return bool(runtime.status.get("availableReplicas") == 1)

    await s.until(bound)


async def serves(s: Stage) -> None:
    async def ready() -> bool:
        return releasing.ready(await s.client.get(PaddleService, s.namespace, NAME))

    await s.until(ready)


def edit(spec: dict[str, Any]) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(PaddleService, Key(s.namespace, NAME), {"spec": spec})

    return act


def ask_for(form: str) -> Act:
    async def act(s: Stage) -> None:
        wish = {"metadata": {"annotations": {modelconversions.ASKED + form: ""}}}
        await s.client.patch(ModelVersion, Key(s.namespace, NAME), wish)

    return act


async def the_jobs_are_gone(s: Stage) -> None:
    """With their pods, whose names nobody knows beforehand."""

    async def gone() -> bool:
        pods = (await s.client.list(Pod, s.namespace)).items
        return not [p for p in pods if "-to-" in p.name]

    await s.until(gone)


def ledger(number: int, before: str, to: str) -> Act:
    async def act(s: Stage) -> None:
        spec = {"model": NAME, "alias": "latest", "from": before, "to": to}
        await s.create(AliasChange, {"metadata": {"name": f"{NAME}-latest-{number}"}, "spec": spec})

    return act


FILE = {"path": "model.json", "size": 3, "sha256": "a"}
IMAGE = {"containerImage": "example/serving", "tag": "1", "port": 9292}
OTHER = {**IMAGE, "tag": "2"}
SCENARIOS = (
    Scenario(
        "a run whose pipeline comes later goes through its steps",
        workflowrun.CONTROLLER,
        (
            make(WorkflowRun, {"pipeline": PIPELINE}),
            write(f"{GRAPH.name}-{GRAPH.digest()[:12]}", {"graph.json": json.dumps(GRAPH.wire())}),
            end("*first*", message=json.dumps({"path": "/data"})),
            end("*second*", code=3),
        ),
    ),
    Scenario(
        "a model version is Ready once its upload was reported",
        modelversion.CONTROLLER,
        (
            make(ModelVersion, {"model": "m", "source": {"pvc": "trained"}}),
            write(f"{NAME}-manifest", {modelpods.REPORT: json.dumps({"files": []})}),
        ),
    ),
    Scenario(
        "a version that was pushed is Ready, and then laid out for Paddle Serving",
        modelversion.CONTROLLER,
        (
            make(ModelVersion, {"model": "m", "source": {"uri": "push:sha256:abc"}}),
            write(f"{NAME}-manifest", {modelpods.REPORT: json.dumps({"files": [FILE]})}),
            ask_for("serving"),
            write(f"{NAME}-to-serving", {modelpods.REPORT: json.dumps({"files": [FILE, FILE]})}),
            ask_for("no-such-format"),
            the_jobs_are_gone,
        ),
    ),
    Scenario(
        "a model is the sum of its versions and its ledger",
        model.CONTROLLER,
        (
            make(Model, {}),
            ledger(1, "", f"{NAME}-1"),
            ledger(2, f"{NAME}-1", f"{NAME}-2"),
            ledger(3, f"{NAME}-2", f"{NAME}-1"),
        ),
    ),
    Scenario(
        "a data set whose runtime never answers",
        sampleset.CONTROLLER,
        (nobody_answers, make(SampleSet, {"source": {"uri": "file:///data/digits"}}), claimed),
        near=0.3,
    ),
    Scenario(
        "a service of an image tries a canary and promotes it",
        paddleservice.CONTROLLER,
        (
            make(PaddleService, {"default": IMAGE, "canary": OTHER, "canaryTrafficPercent": 20}),
            serves,
            edit({"default": OTHER, "canary": None, "canaryTrafficPercent": None}),
            serves,
        ),
    ),
    Scenario(
        "a service whose processors decide how many pods it has",
        paddleservice.CONTROLLER,
        (
            make(PaddleService, {"default": IMAGE, "service": {"metric": "cpu", "window": "30s"}}),
            serves,
            edit({"service": {"metric": "cpu", "target": 50, "maxScale": 3}}),
            serves,
        ),
    ),
)
