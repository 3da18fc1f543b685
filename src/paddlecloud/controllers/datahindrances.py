"""What keeps the runtimes of a SampleSet from starting, in the words of their nodes; pure.

A node of ours says it in the status of the pod. A kubelet says of volumes that they cannot be mounted in
events only, so there the last warning is asked for, while a pod that has its node does not run.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..api.core import Pod
from .contract import Snapshot, WarningQuestion

LONGEST = 500


def hindrance(pod: Pod, seen: Snapshot) -> str:
    """Why the pod does not run; empty where nobody says."""
    if pod.phase != "Pending":
        return ""
    said = unplaced(pod) or waiting_for(pod) or str(seen.answers.get(warning_question(pod)) or "")
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"


def warning_questions(pods: Iterable[Pod]) -> tuple[WarningQuestion, ...]:
    return tuple(
        warning_question(pod) for pod in pods if pod.phase == "Pending" and pod.node and not waiting_for(pod)
    )


def warning_question(pod: Pod) -> WarningQuestion:
    return WarningQuestion(pod.namespace, pod.uid)


def unplaced(pod: Pod) -> str:
    return next(
        (
            str(c.get("message") or "")
            for c in pod.status.get("conditions") or ()
            if c.get("type") == "PodScheduled" and c.get("status") == "False"
        ),
        "",
    )


def waiting_for(pod: Pod) -> str:
    """What its containers wait for; an image that cannot be had, for one."""
    states = (s.get("state") or {} for s in pod.status.get("containerStatuses") or ())
    return next((str(m) for state in states if (m := (state.get("waiting") or {}).get("message"))), "")
