"""The rules of a Job: what the end of a pod means (podFailurePolicy), what suffices (successPolicy); pure."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

from ...api.batch import Job
from ...api.core import Pod
from .jobindexes import read_indexes

Body = dict[str, Any]


class Verdict(NamedTuple):
    counts: bool = True
    """Whether the failure counts against the back-off limit."""
    action: str = ""
    message: str = ""
    """Why the whole Job fails, if it does."""


def verdict(job: Job, pod: Pod) -> Verdict:
    """The first rule that fits decides; without one a failure counts."""
    for index, rule in enumerate((job.spec.get("podFailurePolicy") or {}).get("rules") or ()):
        if cause := matched(rule, pod):
            action = str(rule.get("action"))
            message = f"{cause} matching {action} rule at index {index}" if action == "FailJob" else ""
            return Verdict(action != "Ignore", action, message)
    return Verdict()


def matched(rule: Body, pod: Pod) -> str:
    """What of the pod fits the rule, in words; empty when nothing does."""
    place = f"{pod.namespace}/{pod.name}"
    if codes := rule.get("onExitCodes"):
        for state in (
            *(pod.status.get("containerStatuses") or ()),
            *(pod.status.get("initContainerStatuses") or ()),
        ):
            code = ((state.get("state") or {}).get("terminated") or {}).get("exitCode") or 0
            if code and codes.get("containerName") in (None, state.get("name")) and exits(codes, code):
                return f"Container {state.get('name')} for pod {place} failed with exit code {code}"
    for condition in pod.status.get("conditions") or ():
        for pattern in rule.get("onPodConditions") or ():
            wanted = (pattern.get("type"), pattern.get("status", "True"))
            if (condition.get("type"), condition.get("status")) == wanted:
                return f"Pod {place} has condition {condition['type']}"
    return ""


def exits(codes: Body, code: int) -> bool:
    inside = code in (codes.get("values") or ())
    return inside if codes.get("operator") == "In" else not inside


def success(job: Job, succeeded: Set[int]) -> str:
    """Why the indexes that succeeded are enough; empty when they are not."""
    completions = int(job.spec.get("completions") or 0)
    for index, rule in enumerate((job.spec.get("successPolicy") or {}).get("rules") or ()):
        enough = rule.get("succeededCount")
        if (text := rule.get("succeededIndexes")) is not None:
            wanted = read_indexes(text, completions)
            have = len(wanted & succeeded)
            met = (
                bool(wanted)
                and bool(succeeded)
                and (have == len(wanted) or (enough is not None and have >= enough))
            )
        else:
            met = bool(succeeded) and enough is not None and len(succeeded) >= enough
        if met:
            return f"Matched rules at index {index}"
    return ""
