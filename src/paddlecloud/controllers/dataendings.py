"""The end of a SampleSet, in an order that takes nothing from anybody who still reads; pure.

    claim, as soon as no pod uses it  →  the copies on the nodes  →  runtimes  →  volume  →  the set itself

With JuiceFS the runtimes are readers too and go first; what lies in the object store stays there.
"""

from __future__ import annotations

from typing import NamedTuple

from ..api.core import Node, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet
from ..api.meta import Resource
from ..api.sampleset import SampleSet
from .conditions import set_conditions, waiting
from .contract import Decision, HttpCall, HttpQuestion, Removal, Snapshot
from .datadepartures import cleared
from .dataengines import JUICEFS
from .dataruntimes import (
    listening,
    make_service,
    result_question,
    runtime_name,
    runtimes,
    state_question,
    token_of,
)
from .datavolumes import volume_name
from .partitions import relabelled

FINALIZER = "paddlepaddle.org/sampleset"
LOOK_SOON = 1.0


class Step(NamedTuple):
    reason: str
    message: str
    goes: Resource | None = None
    """What holds data and goes now."""
    kept: Resource | None = None
    """The runtimes, while they are needed."""
    calls: tuple[HttpCall, ...] = ()


def ending(data: SampleSet, seen: Snapshot) -> Decision:
    step = next_step(data, seen)
    if step is None:
        return Decision(None, changes=relabelled(data, (), seen.all(Node)), finalizers=())
    told = set_conditions(data.status.conditions, [waiting(step.reason, step.message)], seen.now)
    return Decision(
        data.status.but(conditions=told, observed_generation=data.metadata.generation),
        (make_service(data), *((step.kept,) if step.kept else ())),
        removals=(Removal(step.goes, step.message),) if step.goes else (),
        changes=relabelled(data, (), seen.all(Node)),
        calls=step.calls,
        check_again=LOOK_SOON,
        finalizers=(FINALIZER,),
    )


def next_step(data: SampleSet, seen: Snapshot) -> Step | None:
    """What comes next on the way; None at its end."""
    claim = seen.owned(PersistentVolumeClaim).get(data.name)
    runtime = seen.owned(StatefulSet).get(runtime_name(data))
    pods, juicefs = runtimes(data, seen), data.status.engine == JUICEFS
    if claim and not (juicefs and runtime):
        why = f"waits for the pods that use claim {data.name}: `kubectl describe pvc {data.name}` names them"
        return Step("InUse", why, claim, runtime)
    if runtime and not juicefs and (calls := clearing(data, pods, seen)) is not None:
        return Step("Clearing", "the copies on the nodes are removed", kept=runtime, calls=calls)
    if runtime:
        return Step("Ending", "its runtimes end")
    volume = seen.owned(PersistentVolume).get(volume_name(data))
    return Step("Ending", f"its volume {volume.name} goes", volume) if volume else None


def clearing(data: SampleSet, pods: dict[int, Pod], seen: Snapshot) -> tuple[HttpCall, ...] | None:
    """What the runtimes are told to remove their copies; None when no runtime is left that would."""
    found = [cleared(data, pod, end_name(data), seen) for pod in listening(pods).values()]
    calls = tuple(call for one in found for call in one.calls)
    return calls if calls or any(one.working for one in found) else None


class EndQuestions(NamedTuple):
    report: HttpQuestion
    result: HttpQuestion


def end_questions(data: SampleSet, pod: Pod) -> EndQuestions:
    return EndQuestions(
        state_question(pod, data),
        result_question(pod, token_of(data), "clear", end_name(data)),
    )


def end_name(data: SampleSet) -> str:
    return f"end-{data.uid[:40].lower()}"
