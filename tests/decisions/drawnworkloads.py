"""Snapshots of Deployments, Jobs and the other kinds of Kubernetes that the embedded cluster works on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.decisions.builders import CONTAINER, metadata
from tests.decisions.drawing import Draw, Drawn, merged, optional, pod_named, some_of

from paddlecloud.api.apps import ReplicaSet
from paddlecloud.api.batch import Job
from paddlecloud.api.core import Pod
from paddlecloud.embedded.workloads.jobcounting import TRACKING
from paddlecloud.embedded.workloads.jobindexes import INDEX


@st.composite
def groups(draw: Draw) -> Drawn:
    template = {"spec": {"containers": [CONTAINER]}}
    spec = draw(merged(optional("replicas", [0, 1, 3, None]), optional("template", [template, None, {}])))
    return {"spec": spec}, draw(some_of(pod_named(f"x-{i}") for i in range(5))), []


TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [CONTAINER]}}
SELECTOR = {"matchLabels": {"app": "x"}}
LABELS = {"app": "x"}


@st.composite
def deployments(draw: Draw) -> Drawn:
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
def replica_sets(draw: Draw) -> Drawn:
    spec = {"selector": SELECTOR, "template": TEMPLATE, **draw(optional("replicas", [0, 1, 3]))}
    labels = st.sampled_from([LABELS, LABELS, {"app": "other"}])
    return {"spec": spec}, draw(some_of(pod_named(f"x-{i}", draw(labels)) for i in range(5))), []


@st.composite
def batch_jobs(draw: Draw) -> Drawn:
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
def cron_jobs(draw: Draw) -> Drawn:
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
def core_services(draw: Draw) -> Drawn:
    ports = [{"port": 80, "targetPort": t} for t in (8080, "web")]
    spec = {
        "ports": ports,
        **draw(merged(optional("selector", [LABELS]), optional("publishNotReadyAddresses", [True]))),
    }
    return {"spec": spec}, [], draw(some_of(pod_named(f"x-{i}", LABELS) for i in range(4)))


@st.composite
def kept_pods(draw: Draw) -> Drawn:
    pod = draw(pod_named("x"))
    marks = draw(optional("finalizers", [[TRACKING], ["example.org/other", TRACKING]]))
    return {**pod.wire(), "metadata": metadata("x", **marks)}, [], []


def endpoint_worlds() -> st.SearchStrategy[Drawn]:
    return st.just(({"subsets": []}, [], []))
