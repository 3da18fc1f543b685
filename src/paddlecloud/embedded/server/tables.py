"""What `kubectl get` prints: the server makes the cells, the client only lays them out; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from .jsonpath import first
from .kinds import Kind

Cells = Callable[[dict[str, Any], datetime], list[Any]]
Column = dict[str, Any]


def column(name: str, kind: str = "string", priority: int = 0) -> Column:
    return {
        "name": name,
        "type": kind,
        "format": "name" if name == "Name" else "",
        "description": "",
        "priority": priority,
    }


def table(
    kind: Kind, bodies: Iterable[dict[str, Any]], now: datetime, *, include: str = "Metadata"
) -> tuple[list[Column], list[dict[str, Any]]]:
    """The columns of a kind and a row for each body."""
    columns, cells = layout(kind)
    rows = []
    for body in bodies:
        row: dict[str, Any] = {"cells": cells(body, now)}
        if include == "Object":
            row["object"] = body
        elif include == "Metadata":
            row["object"] = partial(body)
        rows.append(row)
    return columns, rows


def partial(body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def layout(kind: Kind) -> tuple[list[Column], Cells]:
    if kind.custom:
        return custom(kind)
    names, cells = BUILT_IN.get(kind.resource, ("Name|Age", name_and_age))
    return [column(n.rstrip("+"), priority=int(n.endswith("+"))) for n in names.split("|")], cells


def custom(kind: Kind) -> tuple[list[Column], Cells]:
    printed = kind.columns or ({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},)
    columns = [column("Name")]
    columns += [column(c["name"], c["type"], c.get("priority", 0)) for c in printed]

    def cells(body: dict[str, Any], now: datetime) -> list[Any]:
        row: list[Any] = [body["metadata"]["name"]]
        for c in printed:
            value = first(body, c["jsonPath"])
            row.append(age(value, now) if c["type"] == "date" else value)
        return row

    return columns, cells


def age(stamp: str | None, now: datetime) -> str:
    """A time as people say it: 12s, 3m4s, 5h, 12d."""
    if not stamp:
        return "<unknown>"
    try:
        began = datetime.fromisoformat(stamp).astimezone(UTC)
    except (TypeError, ValueError):
        return "<invalid>"
    return span((now - began).total_seconds())


def span(seconds: float) -> str:
    total = int(seconds)
    # Clocks differ a little; more than that is no age.
    if total < -1:
        return "<invalid>"
    if total < 120:
        return f"{max(0, total)}s"
    minutes, rest = divmod(total, 60)
    if minutes < 10:
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours, rest = divmod(minutes, 60)
    if hours < 8:
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days, rest = divmod(hours, 24)
    if days < 8:
        return f"{days}d{rest}h" if rest else f"{days}d"
    if days < 730:
        return f"{days}d"
    years, rest = divmod(days, 365)
    return f"{years}y{rest}d" if rest and years < 8 else f"{years}y"


def name_and_age(body: dict[str, Any], now: datetime) -> list[Any]:
    return [body["metadata"]["name"], created(body, now)]


def created(body: dict[str, Any], now: datetime) -> str:
    return age(body["metadata"].get("creationTimestamp"), now)


def pod(body: dict[str, Any], now: datetime) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    containers = status.get("containerStatuses") or []
    ready = sum(1 for c in containers if c.get("ready"))
    return [
        body["metadata"]["name"],
        f"{ready}/{len(spec.get('containers') or ())}",
        pod_status(body),
        restarts(containers, now),
        created(body, now),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        "<none>",
    ]


def restarts(containers: list[dict[str, Any]], now: datetime) -> str:
    """How often, and when last."""
    count = sum(c.get("restartCount", 0) for c in containers)
    ends = [((c.get("lastState") or {}).get("terminated") or {}).get("finishedAt") for c in containers]
    last = max((e for e in ends if e), default="")
    return f"{count} ({age(last, now)} ago)" if count and last else str(count)


def pod_status(body: dict[str, Any]) -> str:
    """The one word of the STATUS column: the most telling reason of its containers, else the phase."""
    if body["metadata"].get("deletionTimestamp"):
        return "Terminating"
    status = body.get("status") or {}
    if word := initializing(body, status.get("initContainerStatuses") or []):
        return word
    containers = status.get("containerStatuses") or []
    word = next((w for c in containers if (w := container_word(c.get("state") or {}))), "")
    if word == "Completed" and any(c.get("ready") and "running" in c["state"] for c in containers):
        conditions = status.get("conditions") or ()
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return "Running" if ready else "NotReady"
    return str(word or status.get("reason") or status.get("phase") or "Pending")


def initializing(body: dict[str, Any], containers: list[dict[str, Any]]) -> str:
    """The first init container that has not succeeded, or an empty text."""
    for i, container in enumerate(containers):
        state = container.get("state") or {}
        if (state.get("terminated") or {}).get("exitCode") == 0:
            continue
        word = container_word(state)
        if word and word != "PodInitializing":
            return f"Init:{word}"
        return f"Init:{i}/{len((body.get('spec') or {}).get('initContainers') or ())}"
    return ""


def container_word(state: dict[str, Any]) -> str:
    """Why a container does not run, in one word; empty where it does or nobody said."""
    ended = state.get("terminated") or {}
    reason = (state.get("waiting") or {}).get("reason") or ended.get("reason")
    if reason or not ended:
        return str(reason or "")
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def service(body: dict[str, Any], now: datetime) -> list[Any]:
    spec = body.get("spec") or {}
    ports = [
        f"{p['port']}{':' + str(p['nodePort']) if p.get('nodePort') else ''}/{p.get('protocol', 'TCP')}"
        for p in spec.get("ports") or ()
    ]
    selector = ",".join(f"{k}={v}" for k, v in (spec.get("selector") or {}).items())
    return [
        body["metadata"]["name"], spec.get("type", "ClusterIP"), spec.get("clusterIP") or "None", "<none>",
        ",".join(ports) or "<none>", created(body, now), selector or "<none>",
    ]  # fmt: skip


def node(body: dict[str, Any], now: datetime) -> list[Any]:
    status, meta = body.get("status") or {}, body["metadata"]
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ())
    word = "Ready" if ready else "NotReady"
    if (body.get("spec") or {}).get("unschedulable"):
        word += ",SchedulingDisabled"
    prefix = "node-role.kubernetes.io/"
    roles = sorted(k.removeprefix(prefix) for k in meta.get("labels") or {} if k.startswith(prefix))
    info = status.get("nodeInfo") or {}
    addresses = {a["type"]: a["address"] for a in status.get("addresses") or ()}
    return [
        meta["name"], word, ",".join(roles) or "<none>", created(body, now), info.get("kubeletVersion"),
        addresses.get("InternalIP", "<none>"), "<none>", info.get("osImage"), info.get("kernelVersion"),
        info.get("containerRuntimeVersion"),
    ]  # fmt: skip


def event(body: dict[str, Any], now: datetime) -> list[Any]:
    involved = body.get("involvedObject") or {}
    last = body.get("lastTimestamp") or body["metadata"].get("creationTimestamp")
    return [
        age(last, now), body.get("type"), body.get("reason"),
        f"{involved.get('kind', '').lower()}/{involved.get('name')}", body.get("message"),
    ]  # fmt: skip


def claim(body: dict[str, Any], now: datetime) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    capacity = (status.get("capacity") or {}).get("storage", "")
    return [
        body["metadata"]["name"], status.get("phase", "Pending"), spec.get("volumeName", ""), capacity,
        access_modes(spec), spec.get("storageClassName", ""), created(body, now),
    ]  # fmt: skip


def volume(body: dict[str, Any], now: datetime) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    ref = spec.get("claimRef") or {}
    return [
        body["metadata"]["name"], (spec.get("capacity") or {}).get("storage", ""), access_modes(spec),
        spec.get("persistentVolumeReclaimPolicy", ""), status.get("phase", "Available"),
        f"{ref['namespace']}/{ref['name']}" if ref else "", spec.get("storageClassName", ""),
        created(body, now),
    ]  # fmt: skip


def access_modes(spec: dict[str, Any]) -> str:
    short = {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
    return ",".join(short.get(m, m) for m in spec.get("accessModes") or ())


def with_phase(body: dict[str, Any], now: datetime) -> list[Any]:
    return [body["metadata"]["name"], (body.get("status") or {}).get("phase"), created(body, now)]


def with_data(body: dict[str, Any], now: datetime) -> list[Any]:
    count = len(body.get("data") or {}) + len(body.get("binaryData") or {})
    return [body["metadata"]["name"], count, created(body, now)]


def secret(body: dict[str, Any], now: datetime) -> list[Any]:
    return [body["metadata"]["name"], body.get("type"), len(body.get("data") or {}), created(body, now)]


def stateful_set(body: dict[str, Any], now: datetime) -> list[Any]:
    wanted = (body.get("spec") or {}).get("replicas", 1)
    ready = (body.get("status") or {}).get("readyReplicas", 0)
    return [body["metadata"]["name"], f"{ready}/{wanted}", created(body, now)]


def definition(body: dict[str, Any], now: datetime) -> list[Any]:
    return [body["metadata"]["name"], body["metadata"].get("creationTimestamp")]


# A trailing + marks a column that only `-o wide` shows.
BUILT_IN: dict[str, tuple[str, Cells]] = {
    "/pods": ("Name|Ready|Status|Restarts|Age|IP+|Node+|Nominated Node+|Readiness Gates+", pod),
    "/services": ("Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector+", service),
    "/nodes": (
        "Name|Status|Roles|Age|Version|Internal-IP+|External-IP+|OS-Image+|Kernel-Version+|Container-Runtime+",
        node,
    ),
    "/events": ("Last Seen|Type|Reason|Object|Message", event),
    "/persistentvolumeclaims": ("Name|Status|Volume|Capacity|Access Modes|StorageClass|Age", claim),
    "/persistentvolumes": (
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|Age",
        volume,
    ),
    "/namespaces": ("Name|Status|Age", with_phase),
    "/configmaps": ("Name|Data|Age", with_data),
    "/secrets": ("Name|Type|Data|Age", secret),
    "apps/statefulsets": ("Name|Ready|Age", stateful_set),
    "apiextensions.k8s.io/customresourcedefinitions": ("Name|Created At", definition),
}
