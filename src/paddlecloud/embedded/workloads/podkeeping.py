"""What is done to a pod for the sake of others: nobody's marks, nodes that are gone or tainted; pure.

* A pod whose Job is gone loses the mark that waited for it to be counted.
* A pod of a node that is gone, or one on its way out that never got a node, is removed by force.
* A pod on a node with a NoExecute taint goes once it tolerates the taint no longer.
* A pod on a node that fell silent is not ready: nobody knows whether it answers.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ...api.batch import Job
from ...api.core import Node, Pod
from ...controllers.contract import Controller, Decision, Ending, Note, Ref, Selection, Snapshot, Update
from .jobcounting import tracked, untracking
from .nodelife import given_up
from .podstate import ready
from .stamps import moment, stamp, without

Body = dict[str, Any]
QUARANTINE = timedelta(seconds=40)
"""A node that is not there may be one that has not said its name yet."""


def reconcile(pod: Pod, seen: Snapshot) -> Decision:
    freed = untracking((pod,)) if lost_its_job(pod, seen) else ()
    leaving = pod.metadata.deletion_timestamp is not None
    if leaving and pod.metadata.finalizers:
        return Decision(dict(pod.status), changes=freed)
    if leaving and not pod.node:
        return Decision(dict(pod.status), changes=freed, ending=Ending(grace=0))
    if not pod.node:
        return Decision(dict(pod.status), changes=freed)
    node = seen.find(Node, pod.node)
    if node is None:
        return stranded(pod, freed, seen.now)
    left = None if leaving else patience(pod, node, seen.now)
    if left is None or left > 0:
        doubted = given_up(node) and ready(pod)
        doubt = Note("Warning", "NodeNotReady", "Node is not ready")
        status = unready(pod, seen.now) if doubted else dict(pod.status)
        return Decision(status, changes=freed, notes=(doubt,) if doubted else (), check_again=left)
    said = "Taint manager: deleting due to NoExecute taint"
    told = disrupted(pod, "DeletionByTaintManager", said, seen.now)
    note = Note("Normal", "TaintManagerEviction", f"Marking for deletion Pod {pod.namespace}/{pod.name}")
    return Decision({**pod.status, "conditions": told}, changes=freed, notes=(note,), ending=Ending())


def unready(pod: Pod, now: datetime) -> Body:
    told = [
        {**c, "status": "False", "lastTransitionTime": stamp(now)} if c["type"] == "Ready" else c
        for c in pod.status["conditions"]
    ]
    return {**pod.status, "conditions": told}


def lost_its_job(pod: Pod, seen: Snapshot) -> bool:
    """The mark waits for a Job that is not there any more, or for none."""
    owner = job_of(pod)
    job = seen.find(Job, owner[0]) if owner else None
    return tracked(pod) and (owner is None or job is None or job.uid != owner[1])


def stranded(pod: Pod, freed: tuple[Update, ...], now: datetime) -> Decision:
    """Its node is not there: after a while the pod has failed and goes."""
    born = pod.metadata.creation_timestamp or now
    if (left := (born + QUARANTINE - now).total_seconds()) > 0:
        return Decision(dict(pod.status), changes=freed, check_again=left)
    if pod.finished:
        return Decision(dict(pod.status), changes=freed, ending=Ending(grace=0))
    told = disrupted(pod, "DeletionByPodGC", "PodGC: node no longer exists", now)
    status = {**pod.status, "phase": "Failed", "conditions": told}
    return Decision(status, changes=freed, ending=Ending(grace=0))


def patience(pod: Pod, node: Node, now: datetime) -> float | None:
    """Seconds until a taint of its node drives the pod away; None when none does."""
    limits = []
    for taint in node.spec.get("taints") or ():
        if taint.get("effect") != "NoExecute":
            continue
        fitting = [t for t in pod.spec.get("tolerations") or () if tolerates(t, taint)]
        if not fitting:
            return 0
        seconds = [int(t["tolerationSeconds"]) for t in fitting if t.get("tolerationSeconds") is not None]
        if len(seconds) == len(fitting):
            since = moment(taint.get("timeAdded")) or now
            limits.append((since + timedelta(seconds=max(0, min(seconds))) - now).total_seconds())
    return min((max(0.0, limit) for limit in limits), default=None)


def tolerates(toleration: Body, taint: Body) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key") in (None, "", taint.get("key"))
    return (toleration.get("key"), toleration.get("value") or "") == (
        taint.get("key"),
        taint.get("value") or "",
    )


def disrupted(pod: Pod, reason: str, message: str, now: datetime) -> list[Body]:
    said = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
    others = without(pod.status.get("conditions") or (), "DisruptionTarget")
    return [*others, {**said, "lastTransitionTime": stamp(now)}]


def job_of(pod: Pod) -> tuple[str, str] | None:
    owners = (o for o in pod.metadata.owner_references if o.controller and o.kind == "Job")
    return next(((o.name, o.uid) for o in owners if o.api_version == Job.api_version), None)


def related(pod: Pod) -> tuple[Ref | Selection, ...]:
    node = (Ref(Node, "", pod.node),) if pod.node else ()
    owner = job_of(pod) if tracked(pod) else None
    return (*node, *((Ref(Job, pod.namespace, owner[0]),) if owner else ()))


CONTROLLER = Controller(
    "pod-keeping",
    Pod,
    reconcile,
    reads=(Job, Node),
    related=related,
    while_deleting=True,
    component="taint-eviction-controller",
)
