"""Snapshots of our own kinds: any spec a server lets through, children in any state."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from tests.decisions.builders import (
    CONTAINER,
    a_claim,
    a_graph,
    a_model,
    a_move,
    a_package,
    a_step,
    a_step_pod,
    a_version,
    metadata,
    the_hub,
)
from tests.decisions.drawing import PHASES, Draw, Drawn, merged, optional, pod_named, some_of
from tests.decisions.drawnknative import knative_status

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.knative import KnativeService, Revision
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.samplejob import SampleJob
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.api.scheduling import PodGroup
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.controllers import datavolumes, jobpods, modelpods


def a_role(replicas: int) -> dict[str, Any]:
    gpu = {"resources": {"limits": {"nvidia.com/gpu": "many" if replicas == 3 else replicas}}}
    return {"replicas": replicas, "template": {"spec": {"containers": [{**CONTAINER, **gpu}]}}}


ROLES = [a_role(n) for n in (0, 1, 3)]
POLICIES = ("Always", "Never", "OnFailure", "OnCompletion")
JOB = merged(
    optional("ps", ROLES),
    optional("worker", [*ROLES, {"replicas": 1, "template": {}}]),
    optional("heter", ROLES),
    optional("cleanPodPolicy", POLICIES),
    optional("cleanPolicy", POLICIES),
    optional("intranet", ["PodIP", "Service", "Host"]),
    optional("withGloo", [0, 1, 2]),
    st.sampled_from([{}, {"elastic": 1}, {"elastic": 1, "elasticLauncher": True}]),
    optional("sampleSetRef", [{"name": "digits", "mountPath": "/d"}]),
    optional("schedulingPolicy", [{}, {"minAvailable": 1, "queue": "night"}]),
)


@st.composite
def jobs(draw: Draw) -> Drawn:
    status = draw(optional("phase", ["Pending", "Starting", "Running", "Completed", "Failed"]))
    names = [(r, f"x-{r}-{i}") for r in ("ps", "worker", "heter") for i in range(3)]
    pods = draw(some_of(pod_named(name, {jobpods.ROLE: role, jobpods.NAME: name}) for role, name in names))
    stale = ConfigMap.read({"metadata": metadata("x"), "data": {"PADDLE_TRAINERS": "1.2.3.4", "OLD": "1"}})
    data = sampleset_body("digits", {}, {"phase": draw(st.sampled_from(["", "Ready", "SyncFailed"]))})
    related = draw(some_of([st.just(SampleSet.read(data))]))
    phase = draw(st.sampled_from(["", "Pending", "Inqueue", "Running", "Completed"]))
    group = PodGroup.read({"metadata": metadata("x"), "spec": {"minMember": 7}, "status": {"phase": phase}})
    children = [*pods, *draw(some_of([st.just(stale), st.just(group)]))]
    return {"spec": draw(JOB), "status": status}, children, related


def sampleset_body(name: str, spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": metadata(name), "spec": spec, "status": status}


@st.composite
def data_sets(draw: Draw) -> Drawn:
    uris = [{"uri": "file:///data/x"}, {"uri": "s3://bucket/prefix"}, {}]
    spec = draw(merged(
        optional("partitions", [1, 3]), optional("source", uris), optional("noSync", [True]),
        optional("csi", [{"driver": "juicefs"}, {"driver": "local"}]),
    ))  # fmt: skip
    status = draw(merged(optional("phase", ["Bound", "Mount", "Syncing", "SyncFailed", "Ready"]),
                         optional("progress", [{"done": 1, "total": 2}])))  # fmt: skip
    claims = draw(some_of([st.sampled_from([a_claim("x", p) for p in ("Pending", "Bound", "Lost")])]))
    pods = draw(some_of(pod_named(f"x-runtime-{i}", {datavolumes.LABEL: "x"}) for i in range(3)))
    return {"spec": spec, "status": status}, claims, pods


@st.composite
def sample_jobs(draw: Draw) -> Drawn:
    spec = {
        "type": draw(st.sampled_from(["sync", "warmup", "rmr", "clear"])),
        "sampleSetRef": {"name": "digits"},
    }
    spec |= draw(merged(
        optional("schedule", ["0 0 1 1 *", "?"]), optional("suspend", [True]), optional("terminate", [True]),
        optional("rmrOptions", [{"paths": ["a"]}, {"paths": ["../a"]}]),
        optional("concurrencyPolicy", ["Forbid", "Replace"]), optional("successfulJobsHistoryLimit", [0, 1]),
    ))  # fmt: skip
    status = draw(optional("phase", ["Pending", "Running", "Succeeded", "Failed"]))
    data = SampleSet.read(sampleset_body("digits", {}, {"phase": "Ready"}))
    made = [
        st.just(
            SampleJob.read(
                {
                    "metadata": metadata(f"x-{n}"),
                    "status": {"phase": draw(st.sampled_from(["Running", "Succeeded", "Failed"]))},
                }
            )
        )
        for n in (28454400, 28454401)
    ]
    children = draw(some_of(made)) if "schedule" in spec else []
    body = {
        "metadata": metadata("x", creationTimestamp="2024-06-01T11:00:00Z"),
        "spec": spec,
        "status": status,
    }
    return body, children, draw(some_of([st.just(data)]))


VERSIONS = [a_version(n, p) for n, p in ((1, "Ready"), (2, "Uploading"), (3, "Failed"), (10, "Ready"))]
MODEL = [a_model(latest="shapes-1"), a_model(latest="shapes-2", stable="shapes-10"), a_model()]


@st.composite
def models(draw: Draw) -> Drawn:
    moves = [
        a_move(n, a, f"shapes-{n}", m) for n in (1, 2, 10) for a in ("latest", "a-b") for m in ("x", "y")
    ]
    return {}, [], draw(some_of(st.just(r) for r in (*VERSIONS, *moves)))


@st.composite
def versions(draw: Draw) -> Drawn:
    good = json.dumps({"files": [{"path": "p", "size": 3, "sha256": "s"}], "phase": "Pending", "model": "x"})
    content = draw(st.sampled_from([None, good, "{", "[]", '{"files": [{}]}', "null"]))
    report = ConfigMap.read({
        "metadata": metadata("x-manifest", labels={modelpods.LABEL: "x"}),
        **({} if content is None else {"data": {modelpods.REPORT: content}}),
    })  # fmt: skip
    spec = {"model": "x", "source": {"pvc": "c", "path": "p"}, **draw(optional("format", ["onnx", "paddle"]))}
    status = draw(optional("phase", ["Pending", "Uploading", "Ready", "Failed"]))
    children = draw(some_of([st.just(report), pod_named("x-upload")]))
    return {"spec": spec, "status": status}, children, draw(some_of([st.just(the_hub())]))


@st.composite
def services(draw: Draw) -> Drawn:
    own = {"containerImage": "i", "tag": "1", "port": 80, "arg": "run"}
    models = [{"model": m} for m in ("shapes", "shapes@latest", "shapes@shapes-10", "shapes@no", "other@x")]
    default = draw(st.sampled_from([{}, own, {"tag": "1"}, *models])) | draw(optional("follow", [True]))
    pinned = {"model": "shapes@latest", "modelVersion": "shapes-1", "storage": "file:///o", "name": "x-00001"}
    status = draw(merged(optional("default", [pinned, {}]), optional("observedGeneration", [1])))
    spec = {"default": default, **draw(optional("resources", [{"limits": {"cpu": "1"}}]))}
    spec |= draw(optional("service", [{"minScale": 2}, {"window": "6s"}]))
    spec |= draw(optional("canary", [own | {"tag": "2"}, {"model": "shapes@no"}]))
    old = {"metadata": {"name": "x-default", "labels": {"old": "yes"}}, "spec": {"containers": [
        {"image": "old", "added": "by the server"}], "nodeSelector": {"old": "yes"}}}  # fmt: skip
    split = [{"revisionName": "x-00001", "percent": 90}, {"revisionName": "x-00009", "percent": 10}]
    inner = KnativeService.read({
        "metadata": metadata("x"),
        "spec": {"template": old, **draw(optional("traffic", [split[:1], split]))},
        "status": draw(knative_status()),
    })  # fmt: skip
    children = draw(some_of([st.just(inner)]))
    revisions = [
        Revision.read({"metadata": metadata(name), "status": draw(knative_status())})
        for name in ("x-00001", "x-default", "x-canary")
    ]
    return (
        {"spec": spec, "status": status},
        children,
        draw(some_of(st.just(r) for r in (MODEL[0], *VERSIONS, *revisions))),
    )


@st.composite
def runs(draw: Draw) -> Drawn:
    names = ("a", "b", "c")
    bindings = [{"output": "a.o"}, {"output": "ghost.o"}, {"parameter": "p"}, {"value": "v"}, {}]
    steps = [
        a_step(name, *draw(st.lists(st.sampled_from((*names[:i], "ghost") if draw(st.booleans()) and i == 2
                                                     else names[: i] or ["c"]), max_size=int(i > 0))),
               x=draw(st.sampled_from(bindings if i else bindings[2:])))
        for i, name in enumerate(names)
    ]  # fmt: skip
    graph = a_graph(*steps, p="1")
    text = draw(st.sampled_from([None, None, None, "{", "[]"]))
    package = a_package(graph, text)
    step_phases = st.sampled_from(["Waiting", "Running", "Succeeded", "Failed", "Skipped"])
    nodes = {n: {"phase": draw(step_phases), "pod": f"x-{n}"} for n in names if draw(st.booleans())}
    status = draw(optional("phase", ["Pending", "Running", "Succeeded", "Failed"])) | {"nodes": nodes}
    pods = []
    for name in names:
        pod = a_step_pod(
            name, draw(st.sampled_from(PHASES)), draw(st.sampled_from(["", "x", '{"outputs": {}}']))
        )
        pods.append(st.just(pod.but(metadata=pod.metadata.but(name=f"x-{name}"))))
    spec = {"pipeline": {"name": graph.name, "digest": graph.digest()}}
    return {"spec": spec, "status": status}, draw(some_of(pods)), draw(some_of([st.just(package)]))


@st.composite
def recurring_runs(draw: Draw) -> Drawn:
    pipeline = {"name": "walk", "digest": "0" * 64}
    spec = {"run": {"pipeline": pipeline, "parameters": {"day": "[[ScheduledTime]]"}}}
    spec |= draw(merged(
        optional("cron", ["0 0 0 * * *", "0 30 11 1 6 *", "?"]), optional("intervalSeconds", [86400]),
        optional("enabled", [False]), optional("maxConcurrency", [2]), optional("noCatchup", [True]),
        optional("startTime", ["2024-05-25T00:00:00Z", "2024-07-01T00:00:00Z"]),
        optional("endTime", ["2024-05-27T00:00:00Z"]),
    ))  # fmt: skip
    made = [
        st.just(
            WorkflowRun.read(
                {
                    "metadata": metadata(f"x-{moment}"),
                    "spec": {"pipeline": pipeline},
                    "status": {"phase": draw(st.sampled_from(["Running", "Succeeded", "Failed"]))},
                }
            )
        )
        for moment in (1716595200, 1716681600)
    ]
    body = {"metadata": metadata("x", creationTimestamp="2024-06-01T11:00:00Z"), "spec": spec}
    return body, draw(some_of(made)), []


@st.composite
def kubeflow_jobs(draw: Draw) -> Drawn:
    replicas = merged(
        st.just({"template": {"spec": {"containers": [CONTAINER]}}}),
        optional("replicas", [0, 1, 3]),
        optional("restartPolicy", ["Never", "ExitCode"]),
    )
    roles = draw(st.sampled_from([["Worker"], ["Master"], ["Master", "Worker"]]))
    run = merged(
        optional("cleanPodPolicy", ["All", "None", "Running"]),
        optional("backoffLimit", [0, 2]),
        optional("suspend", [True, False]),
        optional("schedulingPolicy", [{"queue": "night"}]),
    )
    spec = {"paddleReplicaSpecs": {role: draw(replicas) for role in roles}} | draw(
        merged(
            run.map(lambda policy: {"runPolicy": policy}),
            optional("elasticPolicy", [{"minReplicas": 1}, {"maxRestarts": 1}]),
        )
    )
    phase = draw(st.sampled_from(["Pending", "Starting", "Running", "Restarting", "Completed", "Failed"]))
    status: dict[str, Any] = {"phase": phase, "selector": "a=b", "worker": {"running": 1}}
    status |= draw(optional("startTime", ["2024-06-01T11:00:00Z"]))
    if phase in ("Completed", "Failed"):
        status["completionTime"] = "2024-06-01T11:30:00Z"
    body = {"metadata": metadata("x"), "spec": {"worker": draw(st.sampled_from(ROLES))}, "status": status}
    there = [PaddleJob.read(body)]
    return {"spec": spec}, *draw(st.sampled_from([([], []), (there, []), ([], there)]))
