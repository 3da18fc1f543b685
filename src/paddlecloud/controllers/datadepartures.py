"""Partitions that a SampleSet has no more: their copies go first, then their runtimes; pure.

    nobody on that node reads the copy  →  it is dropped, with what is known of it  →  the runtime ends

A StatefulSet ends its last pods first, so a copy that is still read keeps the runtimes below its own. Until
the set says that partitions leave, the pods that might read are not looked at, and nothing is dropped.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from ..api.core import Pod, StatefulSet
from ..api.meta import Condition
from ..api.sampleset import SampleSet
from .conditions import condition
from .contract import HttpCall, HttpQuestion, Snapshot
from .dataengines import JUICEFS
from .dataruntimes import listening, result_question, runtime_name, state_question, token_of, upload
from .partitions import report_of, result_of

LEAVING = "Leaving"
BODY = json.dumps({"leave": True})
"""What makes a runtime drop its copies and, when it ends, all that it has written down of the set."""


class Departure(NamedTuple):
    """How many runtimes there are to be, and what the others are told before they go."""

    replicas: int
    calls: tuple[HttpCall, ...] = ()
    why: str = ""
    """What is waited for; empty when nobody leaves."""

    def conditions(self) -> list[Condition]:
        return [condition(LEAVING, True, "PartitionsLeave", self.why)] if self.why else []


def departure(data: SampleSet, engine: str, pods: dict[int, Pod], seen: Snapshot) -> Departure:
    wanted = data.spec.partitions
    staying: dict[int, str] = {}
    calls: list[HttpCall] = []
    for i, pod in goers(data, pods, seen).items():
        if not said(data):
            staying[i] = f"{pod.name} is to leave {pod.node}"
        elif engine != JUICEFS and (readers := readers_of(data, pod, seen)):
            staying[i] = f"{pod.name} leaves {pod.node} when {readers[0].name} has read to its end"
        else:
            clearing = cleared(data, pod, leave_name(data, pod), seen)
            calls += clearing.calls
            if clearing.working or clearing.calls:
                staying[i] = f"{pod.name} drops what it holds on {pod.node}"
    replicas = max((wanted, *(i + 1 for i in staying)))
    return Departure(replicas, tuple(calls), staying[max(staying)] if staying else "")


def departure_questions(data: SampleSet, pods: dict[int, Pod], seen: Snapshot) -> tuple[HttpQuestion, ...]:
    there = listening(goers(data, pods, seen)).values()
    return tuple(result_question(p, token_of(data), "clear", leave_name(data, p)) for p in there)


def goers(data: SampleSet, pods: dict[int, Pod], seen: Snapshot) -> dict[int, Pod]:
    """Those that are to go and have not been let go yet: whoever was is not called back."""
    owner = seen.owned(StatefulSet).get(runtime_name(data))
    held = int(owner.spec.get("replicas", 1)) if owner else 0
    return {i: p for i, p in pods.items() if data.spec.partitions <= i < held}


def said(data: SampleSet) -> bool:
    """Whether the set tells that partitions leave; from then on all pods around it are looked at."""
    return any(c.type == LEAVING and c.status == "True" for c in data.status.conditions)


def readers_of(data: SampleSet, runtime: Pod, seen: Snapshot) -> list[Pod]:
    """The pods on the node of *runtime* that mount the data."""
    return [
        pod
        for pod in seen.all(Pod)
        if pod.node == runtime.node and not pod.finished and data.name in claims_of(pod)
    ]


def claims_of(pod: Pod) -> set[str]:
    volumes = pod.spec.get("volumes") or ()
    return {str((v.get("persistentVolumeClaim") or {}).get("claimName")) for v in volumes}


def leave_name(data: SampleSet, pod: Pod) -> str:
    """Another for every life of the pod: whoever comes back and leaves again drops its copy again."""
    return f"leave-{hashlib.sha256(f'{data.uid} {pod.uid}'.encode()).hexdigest()[:20]}"


class Clearing(NamedTuple):
    working: bool
    """Whether the runtime is at it, or may be."""
    calls: tuple[HttpCall, ...] = ()


def cleared(data: SampleSet, pod: Pod, name: str, seen: Snapshot) -> Clearing:
    """How far a runtime is with dropping all that it holds, under the id *name*; it is told where it is not.

    A runtime that is not ready keeps its copy: nobody waits for a node that may never come back.
    """
    if report_of(seen.answers.get(state_question(pod, data))) is None:
        return Clearing(pod.ready)
    result = result_of(seen.answers.get(result_question(pod, token_of(data), "clear", name)))
    if result is not None:
        return Clearing(result.status in ("queued", "running"))
    call = upload(pod, token_of(data), "clear", name, BODY)
    return Clearing(False, () if call in seen.rebuffs else (call,))
