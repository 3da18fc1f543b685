"""Why an object is not where it should be: its own words, then those of what it waits for, to the last cause.

The facts are fetched first; the chain itself is a pure function of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..api.apps import Deployment, ReplicaSet
from ..api.core import Event, Pod, StatefulSet
from ..api.kinds import EMBEDDED_ONLY, OURS
from ..api.meta import Progress, Resource
from ..api.paddlejob import PaddleJob
from ..api.scheduling import PodGroup
from ..cluster import requests
from ..controllers.gangs import GROUP_NAME
from ..errors import NotFound
from ..scheduler.words import IN_GANG
from ..sdk.client import Client
from .live import words

Body = dict[str, Any]
STAGES = ("Succeeded", "Failed", "Suspended", "Restarting", "Running", "Created")
"""Of jobs that tell how they are by conditions alone, as those of kubeflow.org: the last to hold first."""
UNREADY = "containers with unready status"
SETS: tuple[type[Resource], ...] = (StatefulSet, Deployment, ReplicaSet)
CHILD_KINDS: tuple[type[Resource], ...] = (*OURS, *EMBEDDED_ONLY, *SETS, Pod)


@dataclass(frozen=True)
class Facts:
    """Everything in one namespace that may be part of the answer."""

    objects: dict[str, Body]
    """By uid."""
    events: tuple[Event, ...] = ()
    by_name: dict[tuple[str, str], Body] = field(default_factory=dict)


def explain(client: Client, body: Body) -> str:
    return "\n".join(chain(body, gather(client, body["metadata"].get("namespace") or "")))


def gather(client: Client, namespace: str) -> Facts:
    objects: dict[str, Body] = {}
    for kind in CHILD_KINDS:
        try:
            found = client.list_raw(kind, requests.Scope(namespace)).items
        except NotFound:
            continue  # not a kind of this cluster
        for body in found:
            objects[body["metadata"]["uid"]] = {**body, "kind": kind.kind}
    named = {(b["kind"], b["metadata"]["name"]): b for b in objects.values()}
    return Facts(objects, tuple(client.list(Event, namespace).items), named)


def chain(body: Body, facts: Facts, depth: int = 0) -> list[str]:
    """One line for the object, then the lines of whatever holds it up."""
    indent = "   " * depth + ("└─ " if depth else "")
    metadata = body["metadata"]
    lines = [f"{indent}{body['kind'].lower()}/{metadata['name']}: {state(body)}"]
    message = reason(body)
    if UNREADY in message and (event := last_warning(metadata["uid"], facts)):
        # That its containers are not up is what is asked about, not why.
        message = f"{event.reason}: {event.message}"
    if message:
        lines += ["   " * (depth + 1) + part for part in message.splitlines()]
    if depth > 6 or well(body):
        told = (body.get("status") or {}).get("progress") if body["kind"] == PaddleJob.kind else None
        if told and not message:
            lines.append("   " * (depth + 1) + words(Progress.model_validate(told)))
        return lines
    if body["kind"] == Pod.kind:
        lines += ["   " * (depth + 1) + f"→ {way}" for way in ways_out(message)]
    found = {c["metadata"]["uid"]: c for c in (*causes(body, facts), *children(body, facts))}
    deeper = [c for c in found.values() if not well(c) and not repeats(c, message)]
    for child in deeper:
        lines += chain(child, facts, depth + 1)
    if not deeper and not message and (event := last_warning(metadata["uid"], facts)):
        lines.append("   " * (depth + 1) + f"last warning: {event.reason}: {event.message}")
    return lines


def ways_out(message: str) -> list[str]:
    """What can be done about a pod that fits no node, beside asking for less."""
    found = []
    if "Insufficient" in message and "/gpu" in message:
        found.append("no node has so many GPUs free: `pdc up --pretend-gpus N` lets nodes say they have N")
    if "node affinity/selector" in message:
        found.append("no node has the labels: `pdc up --node-label K=V` or `kubectl label node` give them")
    return found


def repeats(body: Body, message: str) -> bool:
    """Whether *message* has told already what a group of pods, or a pod that only waits for others, says."""
    if body["kind"] == PodGroup.kind:
        return not reason(body) or spoken(body) in message
    return IN_GANG in message and IN_GANG in reason(body)


def spoken(body: Body) -> str:
    return reason(body).partition(" (since ")[0]


def state(body: Body) -> str:
    status = body.get("status") or {}
    if status.get("phase"):
        return str(status["phase"])
    asleep = (
        body["kind"] in (Deployment.kind, ReplicaSet.kind) and (body.get("spec") or {}).get("replicas") == 0
    )
    if "readyReplicas" in status or asleep:
        up, wanted = int(status.get("readyReplicas") or 0), int((body.get("spec") or {}).get("replicas", 1))
        return "Ready" if up >= wanted else f"{up} of {wanted} pods ready"
    conditions = status.get("conditions") or ()
    ready = next((c for c in conditions if c["type"] == "Ready"), None)
    if ready is None:
        return next((name for name in STAGES if holding(conditions, name)), "new")
    return "Ready" if ready["status"] == "True" else "not Ready"


def holding(conditions: Iterable[Body], name: str) -> bool:
    return any(c["type"] == name and c["status"] == "True" for c in conditions)


def well(body: Body) -> bool:
    return state(body) in ("Ready", "Completed", "Succeeded", "Running") and not reason(body)


def reason(body: Body) -> str:
    """What the object itself says about its wait or its failure."""
    status = body.get("status") or {}
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        current = container.get("state") or {}
        waits = current.get("waiting") or {}
        if waits.get("reason") not in (None, "PodInitializing", "ContainerCreating"):
            return f"{waits['reason']}: {waits.get('message', '')}"
        ended = current.get("terminated") or {}
        if ended.get("exitCode"):
            said = f": {ended['message']}" if ended.get("message") else ""
            return f"container {container['name']} ended with code {ended['exitCode']}{said}"
    for condition in status.get("conditions") or ():
        failed = condition["type"] == "Failed" and condition["status"] == "True"
        failed = failed or (condition["type"] == "Unschedulable" and unplaced(status["conditions"]))
        held = condition["type"] in ("Progressing", "Ready", "PodScheduled", "Succeeded")
        if (failed or (held and condition["status"] == "False")) and condition.get("message"):
            since = (
                f" (since {condition['lastTransitionTime']})" if condition.get("lastTransitionTime") else ""
            )
            return f"{condition['message']}{since}"
    return unserved(body)


def unplaced(conditions: Iterable[Body]) -> bool:
    """Whether a group of pods has no place still: Volcano leaves the old word beside the newer one."""
    said = [c for c in conditions if c["type"] in ("Unschedulable", "Scheduled") and c["status"] == "True"]
    newest = max(said, key=lambda c: str(c.get("lastTransitionTime") or ""), default=None)
    return newest is not None and newest["type"] == "Unschedulable"


def unserved(body: Body) -> str:
    """That nobody has looked at a pod: its scheduler would have said something, placed or not."""
    spec = body.get("spec") or {}
    name = spec.get("schedulerName") or "default-scheduler"
    conditions = (body.get("status") or {}).get("conditions") or ()
    known = any(c["type"] == "PodScheduled" for c in conditions) or spec.get("nodeName")
    if body["kind"] != Pod.kind or known or name == "default-scheduler":
        return ""
    return (
        f"no scheduler called {name} runs here, or it has not looked at the pod yet: "
        "start it, or take schedulerName out of the template"
    )


def causes(body: Body, facts: Facts) -> list[Body]:
    """What it refers to and does not own."""
    spec = body.get("spec") or {}
    wanted = [("SampleSet", (spec.get("sampleSetRef") or {}).get("name"))]
    if isinstance(endpoint := spec.get("default"), dict):
        wanted.append(("Model", str(endpoint.get("model") or "").partition("@")[0]))
    if body["kind"] == PaddleJob.kind:
        wanted.append((PodGroup.kind, body["metadata"]["name"]))
    if body["kind"] == Pod.kind and IN_GANG in reason(body):
        wanted.append((PodGroup.kind, (body["metadata"].get("annotations") or {}).get(GROUP_NAME)))
    return [found for kind, name in wanted if name and (found := facts.by_name.get((kind, name)))]


def children(body: Body, facts: Facts) -> list[Body]:
    uid = body["metadata"]["uid"]
    return [
        o
        for o in facts.objects.values()
        if any(r["uid"] == uid for r in o["metadata"].get("ownerReferences") or ())
    ]


def pods_of(body: Body, facts: Facts) -> list[str]:
    """The names of the pods that work for an object: its own and those of all that it owns."""
    below = children(body, facts)
    own = [str(o["metadata"]["name"]) for o in below if o["kind"] == Pod.kind]
    return own + [name for o in below for name in pods_of(o, facts)]


def last_warning(uid: str, facts: Facts) -> Event | None:
    mine = [e for e in facts.events if e.involved_object.get("uid") == uid and e.type == "Warning"]
    return max(mine, key=lambda e: e.last_timestamp or "", default=None)
