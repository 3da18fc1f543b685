"""Objects and snapshots for the tables: each test states only what matters to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from paddlecloud.api.core import ConfigMap, CSIDriver, Node, PersistentVolumeClaim, Pod, StatefulSet
from paddlecloud.api.knative import KnativeService, Revision
from paddlecloud.api.meta import Condition, OwnerReference, Resource
from paddlecloud.api.model import AliasChange, Model, ModelVersion
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.api.workflowrun import Graph, Step, WorkflowRun
from paddlecloud.controllers import dataruntimes, datavolumes, hub, jobpods, workflowrun
from paddlecloud.controllers.contract import Decision, HttpQuestion, LogQuestion, Snapshot, Token, plan

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
NAMESPACE = "ml"
ROLES = ("ps", "worker", "heter")
CONTAINER = {"name": "main", "image": "example/paddle:1"}
STORE = "file:///objects"


def metadata(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "generation": 1} | more


def a_role(replicas: int, **spec: Any) -> dict[str, Any]:
    return {"replicas": replicas, "template": {"spec": {"containers": [CONTAINER], **spec}}}


def a_job(*, status: Mapping[str, Any] | None = None, **spec: Any) -> PaddleJob:
    """`a_job(worker=2, ps=1)`; a number stands for a role with so many replicas."""
    spec = {k: a_role(v) if k in ROLES and isinstance(v, int) else v for k, v in spec.items()}
    body = {"metadata": metadata("wide-deep"), "spec": spec}
    return PaddleJob.read(body | ({"status": status} if status else {}))


def a_pod(name: str, phase: str = "Running", *, ip: str = "", ready: bool = True, **more: Any) -> Pod:
    """A pod in a phase; a running one has an address and all its containers up."""
    status: dict[str, Any] = {"phase": phase}
    if phase == "Running":
        holds = "True" if ready else "False"
        conditions = [{"type": t, "status": holds} for t in ("ContainersReady", "Ready")]
        status |= {"podIP": ip or f"127.64.0.{1 + len(name) % 250}", "conditions": conditions}
    elif ip:
        status["podIP"] = ip
    labels, spec = more.pop("labels", {}), more.pop("spec", {"containers": [CONTAINER]})
    return Pod.read(
        {"metadata": metadata(name, labels=labels), "spec": spec, "status": status | more.pop("status", {})}
    )


def pods_of(job: PaddleJob, **phases: str | Iterable[str]) -> tuple[Pod, ...]:
    """`pods_of(job, worker="Running")` or, one by one, `worker=["Running", "Failed"]`."""
    found = []
    for number, (role, group) in enumerate(job.spec.roles().items()):
        if role not in phases:
            continue
        given = phases[role]
        each = [given] * group.replicas if isinstance(given, str) else list(given)
        for index, phase in enumerate(each):
            name = jobpods.pod_name(job, role, index)
            address = f"127.64.{number}.{index + 1}" if phase == "Running" else ""
            found.append(a_pod(name, phase, ip=address, labels={jobpods.ROLE: role, jobpods.NAME: name}))
    return tuple(found)


JUICEFS = CSIDriver.read({"metadata": {"name": "csi.juicefs.com"}})


def seen(
    owner: Resource | None = None,
    *children: Resource,
    related: Iterable[Resource] = (),
    answers: Mapping[Any, Any] | None = None,
    now: datetime = NOW,
    **phases: str | Iterable[str],
) -> Snapshot:
    """What is around an object, where JuiceFS has its driver; for a job, its pods by the phases of roles."""
    pods = pods_of(owner, **phases) if isinstance(owner, PaddleJob) else ()
    return Snapshot(now, (*children, *pods), (JUICEFS, *related), answers or {})


def log_of(pod: str, text: str, container: str = "main") -> dict[LogQuestion, str]:
    return {LogQuestion(NAMESPACE, pod, container): text}


def named(decision: Decision) -> list[str]:
    return [f"{c.kind}/{c.name}" for c in decision.children]


def condition_of(decision: Decision, kind: str) -> Condition:
    status: Any = decision.status
    [found] = [c for c in status.conditions if c.type == kind]
    assert isinstance(found, Condition)
    return found


def deleted(decision: Decision, snapshot: Snapshot) -> list[str]:
    return [c.name for c in plan(snapshot.children, decision).delete]


def created(decision: Decision, snapshot: Snapshot) -> list[str]:
    return [c.name for c in plan(snapshot.children, decision).create]


def a_data_set(phase: str = "", **more: Any) -> SampleSet:
    status = {"phase": phase} | more.pop("status", {})
    spec = {"source": {"uri": "file:///data/digits"}, "csi": {"driver": "local"}} | more
    return SampleSet.read({"metadata": metadata("digits"), "spec": spec, "status": status})


def a_claim(name: str = "digits", phase: str = "Bound", **spec: Any) -> PersistentVolumeClaim:
    return PersistentVolumeClaim.read({"metadata": metadata(name), "spec": spec, "status": {"phase": phase}})


RUNTIMES = "digits-runtime"
TOKEN = Token(NAMESPACE, RUNTIMES)


def the_runtimes(replicas: int = 2) -> StatefulSet:
    """The object that makes the pods of `a_runtime`."""
    return StatefulSet.read({"metadata": metadata(RUNTIMES), "spec": {"replicas": replicas}})


def a_runtime(index: int = 0, phase: str = "Running", *, ready: bool = True, **spec: Any) -> Pod:
    address, labels = f"127.64.7.{index + 1}", {datavolumes.LABEL: "digits"}
    spec = {"containers": [CONTAINER], "nodeName": f"node-{index}", **spec}
    pod = a_pod(f"{RUNTIMES}-{index}", phase, ip=address, ready=ready, labels=labels, spec=spec)
    owner = OwnerReference(kind="StatefulSet", name=RUNTIMES, uid=f"uid-{RUNTIMES}", controller=True)
    return pod.but(metadata=pod.metadata.but(owner_references=[owner]))


def a_runtime_reports(index: int = 0, **body: Any) -> dict[HttpQuestion, Any]:
    """What a runtime says of itself."""
    where = f"http://127.64.7.{index + 1}:{dataruntimes.PORT}/cacheStatus/cacheInfo.json"
    return {HttpQuestion(where, TOKEN): body}


def a_result(operation: str, name: str, status: str, index: int = 0, **more: Any) -> dict[HttpQuestion, Any]:
    where = f"http://127.64.7.{index + 1}:{dataruntimes.PORT}/{operation}Result/{name}"
    return {HttpQuestion(where, TOKEN): {"status": status, **more}}


def the_hub() -> ConfigMap:
    where = {"name": hub.NAME, "namespace": hub.NAMESPACE}
    return ConfigMap.read({"metadata": where, "data": {hub.KEY: STORE}})


def a_model(**aliases: str) -> Model:
    return Model.read({"metadata": metadata("shapes"), "status": {"aliases": aliases}})


def a_version(number: int = 1, phase: str = "Pending", **more: Any) -> ModelVersion:
    status = {"phase": phase, "storage": STORE if phase == "Ready" else ""} | more.pop("status", {})
    spec = {"model": "shapes", "source": {"pvc": "out", "path": "model"}} | more
    return ModelVersion.read({"metadata": metadata(f"shapes-{number}"), "spec": spec, "status": status})


def a_move(number: int, alias: str, to: str, model: str = "shapes") -> AliasChange:
    body = {"model": model, "alias": alias, "to": to}
    return AliasChange.read({"metadata": metadata(f"{model}-{alias}-{number}"), "spec": body})


def a_service(
    *, status: Mapping[str, Any] | None = None, generation: int = 1, **default: Any
) -> PaddleService:
    body = {"metadata": metadata("shapes", generation=generation), "spec": {"default": default}}
    return PaddleService.read(body | ({"status": status} if status else {}))


def a_knative(ready: str = "True", generation: int = 1, observed: int = 1, **more: Any) -> KnativeService:
    status = {"observedGeneration": observed, "conditions": [{"type": "Ready", "status": ready}]}
    return KnativeService.read(
        {
            "metadata": metadata("shapes", generation=generation),
            "spec": more.pop("spec", {}),
            "status": status | more,
        }
    )


def a_revision(name: str, ready: str = "True", *, digest: str = "", **more: Any) -> Revision:
    said = {"type": "Ready", "status": ready} | more.pop("said", {})
    status = {"conditions": [said], "actualReplicas": int(ready == "True")}
    labels = {"serving.knative.dev/service": "shapes"} | more.pop("labels", {})
    notes = {"paddlecloud.org/template": digest} if digest else {}
    body = {"metadata": metadata(name, labels=labels, annotations=notes), "status": status}
    return Revision.read(body | more)


def a_step(name: str, *after: str, **inputs: Any) -> Step:
    return Step.model_validate(
        {
            "name": name,
            "image": "example/step:1",
            "command": ["run", "{{x}}"],
            "after": after,
            "inputs": inputs,
        }
    )


def a_graph(*steps: Step, **parameters: str) -> Graph:
    return Graph(name="walk", parameters=parameters, steps=list(steps))


def a_run(graph: Graph, status: Mapping[str, Any] | None = None, **parameters: str) -> WorkflowRun:
    pipeline = {"name": graph.name, "digest": graph.digest()}
    body = {"metadata": metadata("run"), "spec": {"pipeline": pipeline, "parameters": parameters}}
    return WorkflowRun.read(body | ({"status": status} if status else {}))


def a_package(graph: Graph, text: str | None = None) -> ConfigMap:
    name = f"{graph.name}-{graph.digest()[:12]}"
    data = {workflowrun.PACKAGE_KEY: graph.model_dump_json(by_alias=True) if text is None else text}
    return ConfigMap.read({"metadata": metadata(name), "data": data})


def a_step_pod(step: str, phase: str, message: str = "") -> Pod:
    ended = {"state": {"terminated": {"exitCode": int(phase == "Failed"), "message": message}}}
    status = {"containerStatuses": [ended]} if phase in ("Succeeded", "Failed") else {}
    return a_pod(f"run-{step}", phase, labels={workflowrun.STEP_LABEL: step}, status=status)


def a_node(name: str = "node-0", *, ready: bool = True, labels: Any = None, **allocatable: Any) -> Node:
    conditions = [{"type": "Ready", "status": str(ready)}]
    room = {"cpu": "2", "memory": "4Gi", "pods": "110"} | allocatable
    return Node.read(
        {
            "metadata": {"name": name, "labels": labels or {}},
            "status": {"conditions": conditions, "allocatable": room},
        }
    )


def a_group(replicas: int | None, **spec: Any) -> StatefulSet:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [CONTAINER]}}
    body = {"replicas": replicas, "serviceName": "group", "template": template} | spec
    return StatefulSet.read({"metadata": metadata("group"), "spec": body})


def with_stored(owner: Resource, decision: Decision) -> Any:
    """The object as it is once its status has been written."""
    status: Any = decision.status
    wire = status if isinstance(status, dict) else status.wire()
    return type(owner).read({**owner.wire(), "status": wire})
