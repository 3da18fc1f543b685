"""The phase of a SampleSet and the conditions that say why; pure."""

from __future__ import annotations

from ..api.core import Pod
from ..api.meta import Condition
from ..api.sampleset import SampleSet, SampleSetPhase
from .conditions import condition, progressing, waiting
from .contract import Snapshot
from .datahindrances import hindrance
from .dataruntimes import SOURCE
from .datasight import Sight, unfit

NO_FOLDER = f'SetUp failed for volume "{SOURCE}" : hostPath type check failed'
"""What a kubelet says of a folder that is not there."""
SOURCE_CURRENT = "SourceCurrent"
SOURCE_STATES: dict[str, tuple[bool | None, str]] = {
    "Same": (True, "AsSynced"),
    "Changed": (False, "SourceChanged"),
    "Unreachable": (None, "SourceUnreachable"),
}
HELD = (SampleSetPhase.READY, SampleSetPhase.PARTIAL_READY)


def state_of(data: SampleSet, sight: Sight, seen: Snapshot) -> tuple[SampleSetPhase, list[Condition]]:
    if why := unfit(data, sight.choice):
        return SampleSetPhase.SYNC_FAILED, [condition("Ready", False, "Unsupported", why)]
    before = data.status.phase
    if sight.no_engine and not sight.pods:
        return SampleSetPhase.NONE, [
            waiting("EngineMissing", f"{sight.no_engine}; then it goes on by itself")
        ]
    if sight.lacks and before not in HELD:
        phase = SampleSetPhase.MOUNT if sight.reports else SampleSetPhase.NONE
        return phase, [
            waiting("WaitingForSecret", f"{sight.lacks[0]}; it goes on by itself when it is there")
        ]
    if sight.claim is None or not sight.claim.bound:
        why = "; ".join(seen.refused) or f"claim {data.name} waits for a volume"
        return SampleSetPhase.NONE, [waiting("NameTaken" if seen.refused else "WaitingForVolume", why)]
    if not sight.reports:
        return without_answers(data, sight, seen)
    done, failure = sight.copying.done, sight.copying.failure
    if failure:
        return SampleSetPhase.SYNC_FAILED, [
            condition("Ready", False, "SyncFailed", failure),
            waiting("SyncFailed", f"{failure}; it is tried again by itself"),
        ]
    missing = [i for i in range(data.spec.partitions) if i not in done]
    if not missing and len({r.revision for r in sight.reports.values() if r.revision}) > 1:
        why = "the partitions hold different data, as cacheStatus tells: sync again to make them equal"
        return SampleSetPhase.PARTIAL_READY, [
            condition("Ready", False, "Differing", why),
            progressing("Partial", why),
        ]
    if not missing:
        return SampleSetPhase.READY, [condition("Ready", True, "Verified"), progressing("Ready")]
    silent = [i for i in missing if i not in sight.reports]
    if (
        silent
        and before is SampleSetPhase.READY
        and all(i in sight.pods and sight.pods[i].ready for i in silent)
    ):
        # One question without an answer takes nothing away from data that was verified.
        return SampleSetPhase.READY, as_told(data)
    if done or before in HELD:
        cause = waits_for(sight, missing[0], seen)
        why = f"{len(done)} of {data.spec.partitions} partitions are ready; {cause}"
        return SampleSetPhase.PARTIAL_READY, [
            condition("Ready", False, "Partial", why),
            progressing("Partial", why),
        ]
    return SampleSetPhase.SYNCING, [progressing("Syncing", next(iter(sight.reports.values())).message)]


def as_told(data: SampleSet) -> list[Condition]:
    return [c for c in data.status.conditions if c.type in ("Ready", "Progressing")]


def source_conditions(data: SampleSet, sight: Sight) -> list[Condition]:
    """Whether the data is still what the source has, as the runtime that lists it tells."""
    told = next((r for _, r in sorted(sight.reports.items()) if r.source_state), None)
    if told is None:
        return [c for c in data.status.conditions if c.type == SOURCE_CURRENT]
    holds, reason = SOURCE_STATES.get(told.source_state, (None, "SourceUnknown"))
    return [condition(SOURCE_CURRENT, holds, reason, told.source_message)]


def waits_for(sight: Sight, index: int, seen: Snapshot) -> str:
    pod = sight.pods.get(index)
    if pod is None:
        return f"the runtime of partition {index} is being made"
    if index in sight.reports:
        return f"{pod.name} is {sight.reports[index].phase}: {sight.reports[index].message}"
    return f"{pod.name} does not answer: it {stands(pod, seen)}"


def stands(pod: Pod, seen: Snapshot) -> str:
    why = hindrance(pod, seen)
    return f"is {pod.phase} ({why})" if why else f"is {pod.phase}"


def without_answers(data: SampleSet, sight: Sight, seen: Snapshot) -> tuple[SampleSetPhase, list[Condition]]:
    if data.status.phase in HELD:
        if (
            data.status.phase is SampleSetPhase.READY
            and all(p.ready for p in sight.pods.values())
            and sight.pods
        ):
            return SampleSetPhase.READY, as_told(data)
        why = f"no partition is ready; {waits_for(sight, 0, seen)}"
        return SampleSetPhase.PARTIAL_READY, [
            condition("Ready", False, "Partial", why),
            progressing("Partial", why),
        ]
    if why := missing_source(data, sight.pods, seen):
        return SampleSetPhase.SYNC_FAILED, [
            condition("Ready", False, "SourceMissing", why),
            waiting("SourceMissing", f"{why}; the sync begins by itself when it is there"),
        ]
    here = ", ".join(f"{p.name} {stands(p, seen)}" for p in sight.pods.values()) or "its pod is being made"
    phase = SampleSetPhase.MOUNT if sight.pods else SampleSetPhase.BOUND
    return phase, [waiting("WaitingForRuntime", f"the cache runtime does not answer yet: {here}")]


def missing_source(data: SampleSet, pods: dict[int, Pod], seen: Snapshot) -> str:
    """What keeps the runtimes from starting, where a node says that the folder of the source is not there."""
    for pod in pods.values():
        if NO_FOLDER in hindrance(pod, seen) and data.spec.source is not None:
            return f"the source {data.spec.source.uri} is missing: there is no such folder on {pod.node}"
    return ""
