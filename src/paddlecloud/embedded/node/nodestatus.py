"""The Node object as this process wants it to be, and what of that the API does not say yet; pure.

Labels, annotations and conditions of others stay. A time of transition is carried over while nothing changed,
and the time of the last word counts only by its age: a settled node costs one write in five minutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...api.core import Node
from .containerstatus import timestamp
from .machine import HOST_ADDRESS, Declared, Machine, with_gpus

QUIET = 300.0
"""Seconds after which a status is written although nothing has changed."""
DECLARED_LABELS = "paddlecloud.org/declared-labels"
FUSE = "paddlecloud.org/fuse"
"""Label and annotation: whether JuiceFS can be mounted. `-words` says why not."""
AMOUNTS = ("capacity", "allocatable")
Wire = dict[str, Any]


@dataclass(frozen=True)
class Outlook:
    """What the nodes of this process have in common at the moment."""

    names: tuple[str, ...]
    machine: Machine
    declared: Declared = field(default_factory=Declared)
    pressures: Sequence[Mapping[str, str]] = ()


def wanted(name: str, outlook: Outlook, known: Node | None, now: float) -> Node:
    """The node as it should be in the API; *known* is how it is there."""
    machine, declared = outlook.machine, outlook.declared
    labels = {
        "beta.kubernetes.io/arch": machine.info["architecture"],
        "beta.kubernetes.io/os": machine.info["operatingSystem"],
        "kubernetes.io/arch": machine.info["architecture"],
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": machine.info["operatingSystem"],
        FUSE: "false" if machine.no_fuse else "true",
        **declared.labels,
    }
    annotations = {f"paddlecloud.org/isolation-{what}": said for what, said in machine.isolation.items()}
    annotations[FUSE] = labels[FUSE]
    annotations[f"{FUSE}-words"] = machine.no_fuse or "programs can serve file systems"
    if declared.labels:
        annotations[DECLARED_LABELS] = ",".join(sorted(declared.labels))

    def counted(amounts: Mapping[str, str]) -> Wire:
        return with_gpus(amounts, machine, declared, outlook.names, name)

    status: Wire = {
        "capacity": counted(machine.capacity),
        "allocatable": counted(machine.room),
        "nodeInfo": dict(machine.info),
        "addresses": [
            {"type": "InternalIP", "address": HOST_ADDRESS},
            {"type": "Hostname", "address": name},
        ],
        "conditions": conditions(outlook, known, now),
    }
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return Node.read({"metadata": metadata, "spec": {}, "status": status})


def conditions(outlook: Outlook, known: Node | None, now: float) -> list[Wire]:
    machine, declared = outlook.machine, outlook.declared
    ours: list[Wire] = [dict(pressure) for pressure in outlook.pressures]
    ours.append(condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    if said := machine.isolation.get("filesystem"):
        apart = not said.startswith("plain")
        reason = "Namespaces" if apart else "PlainProcesses"
        ours.append(condition("PodsIsolated", str(apart), reason, said))
    if said := machine.isolation.get("network"):
        reason = "RoutedPods" if said.startswith("routed") else "LoopbackPods"
        ours.append(condition("NetworkUnavailable", "False", reason, said))
    if declared.pretend_gpus:
        message = f"{declared.pretend_gpus} GPUs are declared, not there; pods that ask for them run on CPU"
        ours.append(condition("PretendedDevices", "True", "Declared", message))
    before = {c["type"]: c for c in (known.status.get("conditions") if known else None) or ()}
    mine = {c["type"] for c in ours} | {"PretendedDevices"}
    return [
        *(c for kind, c in before.items() if kind not in mine),
        *(dated(c, before.get(c["type"]), timestamp(now)) for c in ours),
    ]


def condition(kind: str, status: str, reason: str, message: str) -> Wire:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def dated(new: Wire, old: Wire | None, now: str) -> Wire:
    same = old is not None and old.get("status") == new["status"] and old.get("lastTransitionTime")
    return {**new, "lastHeartbeatTime": now, "lastTransitionTime": same or now}


def patch_of(known: Node, node: Node, now: float) -> Wire:
    """The merge patch that makes *known* what it should be; empty where nothing is to be written."""
    metadata = metadata_patch(known, node)
    status = status_patch(known, node) if status_due(known, node, now) else {}
    return {name: said for name, said in (("metadata", metadata), ("status", status)) if said}


def metadata_patch(known: Node, node: Node) -> Wire:
    """What labels and annotations lack; labels that were declared once and are no longer go."""
    once = known.metadata.annotations.get(DECLARED_LABELS, "").split(",")
    gone = dict.fromkeys(label for label in once if label in known.metadata.labels)
    labels = lacking(known.metadata.labels, {**gone, **node.metadata.labels})
    ours = dict.fromkeys(name for name in known.metadata.annotations if name == DECLARED_LABELS)
    annotations = lacking(known.metadata.annotations, {**ours, **node.metadata.annotations})
    found = {"labels": labels, "annotations": annotations}
    return {name: said for name, said in found.items() if said}


def lacking(have: Mapping[str, str], want: Mapping[str, str | None]) -> Wire:
    return {key: value for key, value in want.items() if have.get(key) != value}


def status_patch(known: Node, node: Node) -> Wire:
    """The whole status; a device that is gone is taken out by name."""
    gone = {key: dict.fromkeys((known.status.get(key) or {}).keys() - node.status[key]) for key in AMOUNTS}
    return {**node.status, **{key: {**gone[key], **node.status[key]} for key in AMOUNTS}}


def status_due(known: Node, node: Node, now: float) -> bool:
    """Whether the status is to be written: it says something else, or was last said long ago."""
    if any(not agrees(key, known.status.get(key), said) for key, said in node.status.items()):
        return True
    last = [c.get("lastHeartbeatTime") for c in known.status["conditions"] if c["type"] == "Ready"]
    return not last or not last[0] or now - datetime.fromisoformat(last[0]).timestamp() >= QUIET


def agrees(key: str, have: Any, want: Any) -> bool:
    if key == "nodeInfo":
        return all((have or {}).get(name) == said for name, said in want.items())
    return bool(silently(have) == silently(want))


def silently(said: Any) -> Any:
    """Without the times, which change by themselves; in any order."""
    if not isinstance(said, list):
        return said
    times = ("lastHeartbeatTime", "lastTransitionTime")
    bare = [{k: v for k, v in item.items() if k not in times} for item in said]
    return sorted(bare, key=lambda item: str(item.get("type")))


EVENTS = {
    ("Ready", "True"): "NodeReady",
    ("Ready", "False"): "NodeNotReady",
    ("MemoryPressure", "True"): "NodeHasInsufficientMemory",
    ("MemoryPressure", "False"): "NodeHasSufficientMemory",
    ("DiskPressure", "True"): "NodeHasDiskPressure",
    ("DiskPressure", "False"): "NodeHasNoDiskPressure",
    ("PIDPressure", "True"): "NodeHasInsufficientPID",
    ("PIDPressure", "False"): "NodeHasSufficientPID",
}


def news(known: Node | None, node: Node) -> list[str]:
    """The reasons of the events that tell what has changed."""
    old = (known.status.get("conditions") if known else None) or ()
    before = {(c["type"], c["status"]) for c in old}
    now = [(c["type"], c["status"]) for c in node.status["conditions"]]
    return [EVENTS[pair] for pair in now if pair in EVENTS and pair not in before]
