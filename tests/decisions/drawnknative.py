"""Snapshots of the Knative kinds that the embedded cluster works on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.decisions.builders import CONTAINER, metadata
from tests.decisions.drawing import Draw, Drawn, merged, optional, pod_named, some_of

from paddlecloud.api.apps import Deployment
from paddlecloud.api.knative import KnativeService, Revision


@st.composite
def knative_status(draw: Draw) -> dict[str, Any]:
    ready = {"type": "Ready", "status": draw(st.sampled_from(["True", "False", "Unknown"])), "message": "m"}
    found: dict[str, Any] = draw(merged(
        optional("conditions", [[], [ready]]), optional("actualReplicas", [0, 2]),
        optional("observedGeneration", [0, 1]), optional("latestReadyRevisionName", ["x-00001", "x-00009"]),
        optional("traffic", [[], [{"revisionName": "x-00001", "percent": 100}]]),
    ))  # fmt: skip
    return found


@st.composite
def knative_services(draw: Draw) -> Drawn:
    template = {"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    called = template | {"metadata": {"name": "x-00009"}}
    revisions = [
        st.just(Revision.read({"metadata": metadata(f"x-{n:05d}"), "status": draw(knative_status())}))
        for n in (1, 2, 3, 4, 5, 9)
    ]
    halves = [{"revisionName": "x-00001", "percent": 50}, {"revisionName": "x-00002", "percent": 50}]
    latest = [{"latestRevision": True, "percent": 100, "tag": "now"}]
    spec = draw(merged(optional("template", [template, called, None]), optional("traffic", [halves, latest])))
    return {"spec": spec, "status": draw(knative_status())}, draw(some_of(revisions)), []


@st.composite
def routes(draw: Draw) -> Drawn:
    service = KnativeService.read({"metadata": metadata("x"), "status": draw(knative_status())})
    return {"spec": {"traffic": []}}, [], draw(some_of([st.just(service)]))


@st.composite
def revisions(draw: Draw) -> Drawn:
    ports = draw(optional("ports", [[], [{}], [{"containerPort": 80}]]))
    scale = draw(optional("autoscaling.knative.dev/min-scale", ["0", "2", "many"]))
    body = {"metadata": metadata("x", annotations=scale), "spec": {"containers": [{**CONTAINER, **ports}]}}
    labels = {"serving.knative.dev/revision": "x"}
    pods = [
        pod.but(metadata=pod.metadata.but(labels=labels))
        for pod in draw(some_of(pod_named(f"x-deployment-{i}") for i in range(3)))
    ]
    there = Deployment.read(
        {"metadata": metadata("x-deployment"), "spec": draw(optional("replicas", [0, 3]))}
    )
    return {**body, "status": draw(knative_status())}, draw(some_of([st.just(there)])), pods
