"""Nodes that fell silent: not ready when nothing was heard of them, tainted as their conditions say; pure.

A node is heard by its Lease, or by the time in its Ready condition. Nobody is judged before the watch itself
is as old as the patience: after a restart all Leases look old. `podkeeping` drives the pods away; where no
node is ready at all it is rather we who are cut off, and nobody is driven anywhere.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ...api.core import Node
from ...api.lease import Lease
from ...controllers.contract import Controller, Decision, Note, Ref, Selection, Snapshot, Update
from .stamps import condition, moment, stamp

GRACE = timedelta(seconds=50)
FIRST_GRACE = timedelta(seconds=60)
"""For a node that never said how it is."""
LEASES = "kube-node-lease"
UNREACHABLE, NOT_READY = "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
UNWELL = {"False": NOT_READY, "Unknown": UNREACHABLE}
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
        "node-lifecycle", Node, reconcile, reads=(Lease, Node), related=looked_at, component="node-controller"
    )


def decide(node: Node, seen: Snapshot, since: datetime) -> Decision:
    left = (judged_at(node, seen.find(Lease, node.name), since) - seen.now).total_seconds()
    status = dict(node.status)
    if left <= 0:
        status["conditions"] = silent(node, seen.now)
    conditions = status.get("conditions") or ()
    have = node.spec.get("taints") or []
    others = [n for n in seen.all(Node) if n.name != node.name]
    reachable = ready(conditions) == "True" or any(
        ready(n.status.get("conditions") or ()) == "True" for n in others
    )
    wanted = dated(taints(node, conditions, reachable, seen.now), seen.now)
    news = () if wanted == have else (Update(node, {"spec": {"taints": wanted or None}}),)
    lost = ready(node.status.get("conditions") or ()) == "True" and ready(conditions) != "True"
    note = Note("Normal", "NodeNotReady", f"Node {node.name} status is now: NodeNotReady")
    known = Note(
        "Normal", "RegisteredNode", f"Node {node.name} event: Registered Node {node.name} in Controller"
    )
    return Decision(
        status,
        notes=(note,) if lost else (),
        asides=(known,),
        changes=news,
        check_again=left if left > 0 else None,
    )


def judged_at(node: Node, lease: Lease | None, since: datetime) -> datetime:
    """When a node of which nothing more is heard is given up."""
    said = condition(node.status.get("conditions") or (), "Ready")
    heard = [moment(lease.spec.renew_time) if lease else None]
    heard += [moment(said.get("lastHeartbeatTime")) if said else node.metadata.creation_timestamp]
    return max([since, *(h for h in heard if h is not None)]) + (GRACE if said else FIRST_GRACE)


def silent(node: Node, now: datetime) -> list[Body]:
    """The conditions of a node that tells nothing any more: what it said last is not known to hold."""
    old = node.status.get("conditions") or []
    never = {"reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status."}
    stopped = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
    unknown = []
    for kind in REPORTED:
        said = condition(old, kind)
        if said is None or said.get("status") != "Unknown":
            words = never if said is None else stopped
            said = {
                "type": kind,
                **(said or {}),
                "status": "Unknown",
                **words,
                "lastTransitionTime": stamp(now),
            }
        unknown.append(said)
    return [*unknown, *(c for c in old if c.get("type") not in REPORTED)]


def taints(node: Node, conditions: Any, reachable: bool, now: datetime) -> list[Body]:
    """The taints that follow from condition and spec; those of others stay, ours keep their time."""
    have = node.spec.get("taints") or []
    pairs: list[tuple[str, str]] = []
    if (key := UNWELL.get(ready(conditions))) is not None:
        pairs += [(key, "NoSchedule"), *([(key, "NoExecute")] if reachable else [])]
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
    return str(said.get("status")) if said else ""


def given_up(node: Node) -> bool:
    """Whether a node that was well has fallen silent, as we have said ourselves."""
    said = condition(node.status.get("conditions") or (), "Ready") or {}
    return (said.get("status"), said.get("reason")) == ("Unknown", "NodeStatusUnknown")


def looked_at(node: Node) -> tuple[Ref | Selection, ...]:
    return (Ref(Lease, LEASES, node.name), Selection(Node))
