"""Nodes that fell silent: NotReady when their Lease is old, tainted as their condition says; pure.

A node without a Lease is left alone: it never promised to renew one. Nobody is judged before the watch
itself is as old as the patience: after a restart all Leases look old. `podkeeping` drives the pods away.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ...api.core import Node
from ...api.lease import Lease
from ...controllers.contract import Controller, Decision, Note, Ref, Selection, Snapshot, Update
from .stamps import condition, moment, stamp

GRACE = timedelta(seconds=50)
LEASES = "kube-node-lease"
UNREACHABLE, NOT_READY = "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
OURS = {UNREACHABLE, NOT_READY, UNSCHEDULABLE, *PRESSURES.values()}
REPORTED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
Body = dict[str, Any]


def controller(since: datetime) -> Controller:
    """The controller of a process that looks since *since*."""

    def reconcile(node: Node, seen: Snapshot) -> Decision:
        return decide(node, seen, since)

    return Controller(
        "node-lifecycle", Node, reconcile, reads=(Lease,), related=lease_of, component="node-controller"
    )


def decide(node: Node, seen: Snapshot, since: datetime) -> Decision:
    lease = seen.find(Lease, node.name)
    renewed = moment(lease.spec.renew_time) if lease else None
    status, left = dict(node.status), None
    if renewed is not None:
        left = (max(renewed, since) + GRACE - seen.now).total_seconds()
        if left <= 0:
            status["conditions"] = silent(node, seen.now)
    conditions = status.get("conditions") or ()
    have = node.spec.get("taints") or []
    wanted = dated(taints(node, conditions, seen.now) if renewed is not None else have, seen.now)
    news = () if wanted == have else (Update(node, {"spec": {"taints": wanted or None}}),)
    lost = ready(node.status.get("conditions") or ()) == "True" and ready(conditions) != "True"
    note = Note("Normal", "NodeNotReady", f"Node {node.name} status is now: NodeNotReady")
    return Decision(
        status, notes=(note,) if lost else (), changes=news, check_again=left if left and left > 0 else None
    )


def silent(node: Node, now: datetime) -> list[Body]:
    """The conditions of a node that tells nothing any more: what it said last is not known to hold."""
    old = node.status.get("conditions") or []
    unknown = []
    for kind in REPORTED:
        said = condition(old, kind)
        if said is not None and said.get("status") != "Unknown":
            words = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
            said = {**said, "status": "Unknown", **words, "lastTransitionTime": stamp(now)}
        unknown += [said] if said is not None else []
    return [*unknown, *(c for c in old if c.get("type") not in REPORTED)]


def taints(node: Node, conditions: Any, now: datetime) -> list[Body]:
    """The taints that follow from condition and spec; those of others stay, ours keep their time."""
    have = node.spec.get("taints") or []
    pairs: list[tuple[str, str]] = []
    if (state := ready(conditions)) != "True":
        key = UNREACHABLE if state == "Unknown" else NOT_READY
        pairs += [(key, "NoSchedule"), (key, "NoExecute")]
    pairs += [(PRESSURES[c["type"]], "NoSchedule") for c in conditions if pressed(c)]
    if node.spec.get("unschedulable"):
        pairs.append((UNSCHEDULABLE, "NoSchedule"))
    told = {(t.get("key"), t.get("effect")): t for t in have}
    others = [t for t in have if t.get("key") not in OURS]
    fresh = {p: {"key": p[0], "effect": p[1], "timeAdded": stamp(now)} for p in pairs}
    kept = [t for t in have if t in others or (t.get("key"), t.get("effect")) in fresh]
    return [*kept, *(fresh[p] for p in pairs if p not in told)]


def dated(found: list[Body], now: datetime) -> list[Body]:
    """Patience with a taint is counted from its date: one that somebody set without gets the date of now."""
    return [{**t, "timeAdded": stamp(now)} if undated(t) else t for t in found]


def undated(taint: Body) -> bool:
    return taint.get("effect") == "NoExecute" and not taint.get("timeAdded")


def pressed(said: Body) -> bool:
    return said.get("type") in PRESSURES and said.get("status") == "True"


def ready(conditions: Any) -> str:
    said = condition(conditions, "Ready")
    return str(said.get("status")) if said else "Unknown"


def lease_of(node: Node) -> tuple[Ref | Selection, ...]:
    return (Ref(Lease, LEASES, node.name),)
