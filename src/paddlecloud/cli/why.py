"""Why an object is not where it should be: its own words, then those of what it waits for, to the last cause.

The facts are fetched first; the chain itself is a pure function of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..api.core import Event, Pod, StatefulSet
from ..api.kinds import EMBEDDED_ONLY, OURS
from ..api.meta import Resource
from ..cluster import requests
from ..errors import NotFound
from ..sdk.client import Client

Body = dict[str, Any]
CHILD_KINDS: tuple[type[Resource], ...] = (*OURS, *EMBEDDED_ONLY, StatefulSet, Pod)


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
    if message := reason(body):
        lines += ["   " * (depth + 1) + part for part in message.splitlines()]
    if depth > 6 or well(body):
        return lines
    deeper = [c for c in (*causes(body, facts), *children(body, facts)) if not well(c)]
    for child in deeper:
        lines += chain(child, facts, depth + 1)
    if not deeper and not message and (event := last_warning(metadata["uid"], facts)):
        lines.append("   " * (depth + 1) + f"last warning: {event.reason}: {event.message}")
    return lines


def state(body: Body) -> str:
    status = body.get("status") or {}
    if status.get("phase"):
        return str(status["phase"])
    if "readyReplicas" in status:
        up, wanted = int(status["readyReplicas"]), int((body.get("spec") or {}).get("replicas", 1))
        return "Ready" if up >= wanted else f"{up} of {wanted} pods ready"
    ready = next((c for c in status.get("conditions") or () if c["type"] == "Ready"), None)
    if ready is None:
        return "new"
    return "Ready" if ready["status"] == "True" else "not Ready"


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
        held = condition["type"] in ("Progressing", "Ready", "PodScheduled", "Succeeded")
        if (failed or (held and condition["status"] == "False")) and condition.get("message"):
            since = (
                f" (since {condition['lastTransitionTime']})" if condition.get("lastTransitionTime") else ""
            )
            return f"{condition['message']}{since}"
    return ""


def causes(body: Body, facts: Facts) -> list[Body]:
    """What it refers to and does not own."""
    spec = body.get("spec") or {}
    wanted = [("SampleSet", (spec.get("sampleSetRef") or {}).get("name"))]
    if isinstance(endpoint := spec.get("default"), dict):
        wanted.append(("Model", str(endpoint.get("model") or "").partition("@")[0]))
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
