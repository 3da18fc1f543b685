"""Snapshots of every kind as hypothesis makes them: any spec a server lets through, children in any state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from tests.decisions.builders import (
    CONTAINER,
    NAMESPACE,
    NOW,
    a_claim,
    a_graph,
    a_model,
    a_move,
    a_package,
    a_pod,
    a_step,
    a_step_pod,
    a_version,
    metadata,
    the_hub,
)
from tests.decisions.world import World

from paddlecloud.api.apps import Deployment, ReplicaSet
from paddlecloud.api.batch import Job
from paddlecloud.api.core import ConfigMap, Pod, Secret
from paddlecloud.api.knative import KnativeService, Revision
from paddlecloud.api.meta import Resource
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.samplejob import SampleJob
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.api.scheduling import PodGroup
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.controllers import datavolumes, jobpods, modelpods
from paddlecloud.controllers.contract import Controller, Recorded, identity
from paddlecloud.embedded.workloads.jobcounting import TRACKING
from paddlecloud.embedded.workloads.jobindexes import INDEX

Draw = Any
PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
WAITING = st.sampled_from(["ContainerCreating", "ErrImagePull", "CrashLoopBackOff", "PodInitializing"])
STATES = st.one_of(
    st.just({}),
    st.just({"running": {"startedAt": "2024-06-01T11:00:00Z"}}),
    st.builds(lambda reason: {"waiting": {"reason": reason, "message": "m"}}, WAITING),
    st.builds(
        lambda code, message: {"terminated": {"exitCode": code, "message": message}},
        st.sampled_from([0, 1, 137]),
        st.sampled_from(["", "not json", '{"outputs": {"o": "1"}}', "[]"]),
    ),
)
LOGS = st.sampled_from(
    [
        None,
        "",
        "Traceback\nValueError",
        "epoch 1/2 step 3/4 loss 0.5",
        "step 4/4 loss 1e999\ntest accuracy 0.9",
    ]
)
RECORDS = st.sampled_from(
    [None, (), (Recorded("train/loss", 7, 0.5), Recorded("eval/acc", 1, None)), (Recorded("", -3, 1e30),)]
)
RUNTIME_PHASES = st.sampled_from(["Syncing", "Synced", "Failed", "?"])
SAID = st.one_of(
    st.none(),
    st.just(["no", "runtime"]),
    st.builds(
        lambda phase, total, done: {
            "phase": phase, "message": "m", "totalBytes": total, "cachedBytes": done, "revision": "r",
            "progress": {"done": done, "total": total, "unit": "bytes", "rate": 1.5},
        },
        RUNTIME_PHASES, st.integers(0, 10**7), st.integers(0, 10**7),
    ),
    st.just({"phase": "Synced", "totalBytes": "many"}),
)  # fmt: skip


@st.composite
def pod_named(draw: Draw, name: str, labels: dict[str, str] | None = None) -> Pod:
    """A pod of that name in any state."""
    containers = draw(st.lists(st.builds(lambda s: {"name": "main", "state": s}, STATES), max_size=2))
    status = {"containerStatuses": containers} if containers else {}
    if draw(st.booleans()):
        status["conditions"] = [
            {"type": t, "status": draw(st.sampled_from(["True", "False"])), "message": "m"}
            for t in ("PodScheduled", "Ready", "ContainersReady")
        ]
    ip = draw(st.sampled_from(["", "127.64.0.9"]))
    return a_pod(name, draw(st.sampled_from(PHASES)), ip=ip, labels=labels or {}, status=status)


@st.composite
def some_of(draw: Draw, strategies: Iterable[Any]) -> list[Any]:
    return [draw(s) for s in strategies if draw(st.booleans())]


def optional(name: str, values: Iterable[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The field with one of these values, or without it."""
    return st.one_of(st.just({}), st.sampled_from(list(values)).map(lambda v: {name: v}))


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


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
def jobs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def data_sets(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def sample_jobs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def models(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    moves = [
        a_move(n, a, f"shapes-{n}", m) for n in (1, 2, 10) for a in ("latest", "a-b") for m in ("x", "y")
    ]
    return {}, [], draw(some_of(st.just(r) for r in (*VERSIONS, *moves)))


@st.composite
def versions(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def services(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def knative_status(draw: Draw) -> dict[str, Any]:
    ready = {"type": "Ready", "status": draw(st.sampled_from(["True", "False", "Unknown"])), "message": "m"}
    found: dict[str, Any] = draw(merged(
        optional("conditions", [[], [ready]]), optional("actualReplicas", [0, 2]),
        optional("observedGeneration", [0, 1]), optional("latestReadyRevisionName", ["x-00001", "x-00009"]),
        optional("traffic", [[], [{"revisionName": "x-00001", "percent": 100}]]),
    ))  # fmt: skip
    return found


@st.composite
def runs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def recurring_runs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def groups(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    template = {"spec": {"containers": [CONTAINER]}}
    spec = draw(merged(optional("replicas", [0, 1, 3, None]), optional("template", [template, None, {}])))
    return {"spec": spec}, draw(some_of(pod_named(f"x-{i}") for i in range(5))), []


TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [CONTAINER]}}
SELECTOR = {"matchLabels": {"app": "x"}}
LABELS = {"app": "x"}


@st.composite
def deployments(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    bounds = [{"maxSurge": s, "maxUnavailable": u} for s, u in ((1, 0), ("25%", "25%"), (0, 2), ("100%", 0))]
    strategy = st.sampled_from(
        [{"type": "RollingUpdate", "rollingUpdate": b} for b in bounds] + [{"type": "Recreate"}]
    )
    spec = {"selector": SELECTOR, "template": TEMPLATE, "strategy": draw(strategy)}
    spec |= draw(merged(
        optional("replicas", [0, 1, 4]), optional("paused", [True]), optional("revisionHistoryLimit", [0, 1]),
        optional("minReadySeconds", [3]),
    ))  # fmt: skip
    names = ("x-old", "x-older", "x-new")
    return {"spec": spec}, draw(some_of(replica_set(name) for name in names)), []


@st.composite
def replica_set(draw: Draw, name: str) -> ReplicaSet:
    template = TEMPLATE if name == "x-new" else {**TEMPLATE, "spec": {"containers": [{"image": name}]}}
    size = draw(st.integers(0, 4))
    status = {"replicas": size, "availableReplicas": draw(st.integers(0, size)), "observedGeneration": 1}
    marks = draw(optional("deployment.kubernetes.io/desired-replicas", ["1", "4"]))
    return ReplicaSet.read({
        "metadata": metadata(name, labels=LABELS, annotations=marks),
        "spec": {"replicas": size, "selector": SELECTOR, "template": template},
        "status": status,
    })  # fmt: skip


@st.composite
def replica_sets(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    spec = {"selector": SELECTOR, "template": TEMPLATE, **draw(optional("replicas", [0, 1, 3]))}
    labels = st.sampled_from([LABELS, LABELS, {"app": "other"}])
    return {"spec": spec}, draw(some_of(pod_named(f"x-{i}", draw(labels)) for i in range(5))), []


@st.composite
def batch_jobs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    spec = {"selector": SELECTOR, "template": TEMPLATE} | draw(merged(
        optional("parallelism", [0, 1, 3]), optional("completions", [1, 3]), optional("backoffLimit", [0, 2]),
        optional("suspend", [True]), optional("podReplacementPolicy", ["Failed"]),
    ))  # fmt: skip
    if "completions" in spec:
        spec |= draw(
            merged(optional("completionMode", ["Indexed"]), optional("backoffLimitPerIndex", [0, 1]))
        )
    if spec.get("completionMode") != "Indexed":
        spec.pop("backoffLimitPerIndex", None)
    pods = [
        p.but(metadata=job_metadata(p, i))
        for i, p in enumerate(draw(some_of(pod_named(f"x-{i}", LABELS) for i in range(4))))
    ]
    return {"spec": spec, "status": {"startTime": "2024-06-01T11:00:00Z"}}, pods, []


def job_metadata(pod: Pod, index: int) -> Any:
    return pod.metadata.but(finalizers=[TRACKING], annotations={INDEX: str(index)})


@st.composite
def cron_jobs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    spec = {
        "schedule": draw(st.sampled_from(["0 0 1 1 *", "?"])),
        "jobTemplate": {"spec": {"template": TEMPLATE}},
    }
    spec |= draw(
        merged(optional("successfulJobsHistoryLimit", [0, 1]), optional("failedJobsHistoryLimit", [0]))
    )
    states = st.sampled_from(
        [[], [{"type": "Complete", "status": "True"}], [{"type": "Failed", "status": "True"}]]
    )
    jobs = [
        st.just(Job.read({"metadata": metadata(f"x-{i}"), "status": {"conditions": draw(states)}}))
        for i in range(4)
    ]
    body = {"metadata": metadata("x", creationTimestamp="2024-06-01T11:00:00Z"), "spec": spec}
    return body, draw(some_of(jobs)), []


@st.composite
def core_services(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    ports = [{"port": 80, "targetPort": t} for t in (8080, "web")]
    spec = {
        "ports": ports,
        **draw(merged(optional("selector", [LABELS]), optional("publishNotReadyAddresses", [True]))),
    }
    return {"spec": spec}, [], draw(some_of(pod_named(f"x-{i}", LABELS) for i in range(4)))


@st.composite
def kept_pods(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    pod = draw(pod_named("x"))
    marks = draw(optional("finalizers", [[TRACKING], ["example.org/other", TRACKING]]))
    return {**pod.wire(), "metadata": metadata("x", **marks)}, [], []


def endpoint_worlds() -> st.SearchStrategy[tuple[dict[str, Any], list[Resource], list[Resource]]]:
    return st.just(({"subsets": []}, [], []))


@st.composite
def knative_services(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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
def routes(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
    service = KnativeService.read({"metadata": metadata("x"), "status": draw(knative_status())})
    return {"spec": {"traffic": []}}, [], draw(some_of([st.just(service)]))


@st.composite
def revisions(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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


@st.composite
def kubeflow_jobs(draw: Draw) -> tuple[dict[str, Any], list[Resource], list[Resource]]:
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


AROUND: dict[str, Any] = {
    "paddlejob": jobs(),
    "kubeflowjob": kubeflow_jobs(),
    "sampleset": data_sets(),
    "samplejob": sample_jobs(),
    "model": models(),
    "modelversion": versions(),
    "paddleservice": services(),
    "elasticpaddleservice": services(),
    "workflowrun": runs(),
    "recurringrun": recurring_runs(),
    "statefulset": groups(),
    "deployment": deployments(),
    "replicaset": replica_sets(),
    "job": batch_jobs(),
    "cronjob": cron_jobs(),
    "endpoints": core_services(),
    "abandoned-endpoints": endpoint_worlds(),
    "pod-keeping": kept_pods(),
    "knative-service": knative_services(),
    "knative-revision": revisions(),
    "knative-route": routes(),
}
PRECIOUS = (a_claim("precious"), Secret.read({"metadata": metadata("precious"), "data": {"k": "dg=="}}))


@st.composite
def worlds(draw: Draw, controller: Controller) -> World:
    """An object of the controller's kind, what it owns (and some data besides), what it is related to."""
    body, children, related = draw(AROUND[controller.name])
    owner = controller.kind.read({"metadata": metadata("x"), **body})
    everything = (*children, *PRECIOUS)
    assert all(c.namespace == NAMESPACE for c in everything)
    return World(
        controller, owner, {identity(c): c for c in everything}, tuple(related), NOW,
        draw(SAID), draw(LOGS), draw(RECORDS), draw(st.booleans()),
    )  # fmt: skip
