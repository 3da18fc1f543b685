"""Decides how a SampleSet becomes data that a job can mount: volume, runtimes, sync, verified.

    ""  →  Bound (the claim has a volume)  →  Mount (a runtime answers)  →  Syncing  →  PartialReady  →  Ready
                                                                       ↘  SyncFailed, tried again

The runtimes tell what they see; this module only believes them. Ready means: every partition is there, and
every file of it was checked.
"""

from __future__ import annotations

from typing import Any

from ..api.core import (
    ConfigMap,
    CSIDriver,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
    StatefulSet,
)
from ..api.meta import Condition, Resource
from ..api.samplejob import SampleJob
from ..api.sampleset import JobsName, SampleSet, SampleSetPhase, SampleSetStatus
from .conditions import set_conditions
from .contract import Controller, Decision, Note, Question, Ref, Removal, Selection, Snapshot
from .datadepartures import departure_questions, said
from .dataendings import FINALIZER, end_questions, ending
from .dataengines import DRIVER, Choice, choose
from .dataforecasts import newest_forecast
from .datahindrances import warning_questions
from .dataphase import source_conditions, state_of
from .dataruntimes import (
    keys_at_hand,
    listening,
    make_runtime,
    make_service,
    runtime_name,
    runtimes,
    state_question,
)
from .datasecrets import missing_token, secrets_of, token_question, wanted_keys
from .datasight import Sight, look, unfit
from .datasyncs import stem, sync_questions
from .datavolumes import LABEL, make_claim, make_volume
from .mirrors import TABLE, mirrors_of, read_from, root_of, shown
from .partitions import SYNCED, cache_of, progress_of, relabelled, runtime_of

LOOK_SOON, LOOK_FOR_SECRET, LOOK_EVERY = 1.0, 5.0, 30.0
TROUBLES = {
    "WaitingForSecret": "ErrorSecretNotExist",
    "EngineMissing": "EngineMissing",
    "SourceChanged": "SourceChanged",
}
"""Reasons of conditions that are told in an event of this name, each sentence once."""


def reconcile(data: SampleSet, seen: Snapshot) -> Decision:
    if data.metadata.deletion_timestamp is not None:
        return ending(data, seen)
    written, mirrors = data, mirrors_of(seen)
    data = read_from(written, mirrors)
    sight = look(data, seen)
    phase, current = state_of(data, sight, seen)
    current = [*current, *source_conditions(data, sight), *sight.leaving.conditions()]
    sync = sight.copying
    told = (r.progress for r in sight.reports.values() if r.phase != SYNCED)
    status = SampleSetStatus(
        phase=phase,
        **({} if waits_for_engine(data, sight) else {"engine": sight.choice.engine}),
        cache_status=cache_of(data, sight.pods, sight.reports),
        runtime_status=runtime_of(data, sight.pods, sight.reports),
        jobs_name=JobsName(sync_job_name=sync.attempt.name) if sync.attempt else data.status.jobs_name,
        last_sync_time=sync.attempt.since if sync.attempt else data.status.last_sync_time,
        revision=next((r.revision for r in sight.reports.values() if r.revision), data.status.revision),
        forecast=newest_forecast(data, seen.all(SampleJob)),
        observed_generation=data.metadata.generation,
        progress=progress_of(data.status.progress, told, seen.now)
        if phase is SampleSetPhase.SYNCING
        else None,
        conditions=set_conditions(data.status.conditions, current, seen.now),
    )
    return Decision(
        status,
        wanted(data, sight, seen),
        removals=stale_volume(sight),
        notes=(*mirror_notes(written, data, sight), *notes(data, sight.choice, phase, current)),
        asides=(Note("Warning", "Mirrors", mirrors.trouble),) if mirrors.trouble else (),
        changes=relabelled(data, sight.staying(data.spec.partitions).values(), seen.all(Node)),
        tokens=missing_token(data, seen),
        calls=(*sync.calls, *sight.leaving.calls),
        check_again=look_again(data, sight, phase),
        glance=LOOK_EVERY if phase is SampleSetPhase.READY else None,
        finalizers=(FINALIZER,),
    )


def wanted(data: SampleSet, sight: Sight, seen: Snapshot) -> tuple[Resource, ...]:
    runtime = seen.owned(StatefulSet).get(runtime_name(data))
    if unfit(data, sight.choice) or ((sight.lacks or sight.no_engine) and runtime is None):
        return (*seen.owned(StatefulSet).values(), *seen.owned(Service).values())
    volumes: tuple[Resource, ...] = (make_volume(data, sight.choice.engine),)
    if sight.claim or offered(sight.volume):
        volumes += (make_claim(data),)
    if not (sight.claim and sight.claim.bound):
        return (*volumes, *((runtime,) if runtime else ()), *seen.owned(Service).values())
    # Keys stay at hand once they are: taking them away would start the runtimes anew.
    secrets = wanted_keys(data, seen) | (keys_at_hand(pod_spec(runtime)) if runtime else set())
    root = root_of(data.spec.source.uri, mirrors_of(seen).table) if data.spec.source else ""
    runtimes = make_runtime(data, sight.choice.engine, secrets, root, sight.leaving.replicas)
    return (*volumes, make_service(data), runtimes)


def offered(volume: PersistentVolume | None) -> bool:
    """Whether who binds claims has seen the volume.

    A cluster looks at a claim that came earlier only in its next round, a quarter of a minute later.
    """
    return volume is not None and volume.status.get("phase") in ("Available", "Bound")


def pod_spec(runtime: StatefulSet) -> dict[str, Any]:
    return (runtime.spec.get("template") or {}).get("spec") or {}


def stale_volume(sight: Sight) -> tuple[Removal, ...]:
    """A volume whose claim somebody deleted is never bound again: another takes its place."""
    phase = sight.volume.status.get("phase") if sight.volume else ""
    if sight.volume and sight.claim is None and phase in ("Released", "Failed"):
        return (Removal(sight.volume, "its claim is gone"),)
    return ()


def look_again(data: SampleSet, sight: Sight, phase: SampleSetPhase) -> float | None:
    if phase is SampleSetPhase.READY:
        return LOOK_SOON if sight.leaving.why else None
    if waits_for_engine(data, sight):
        return None
    if sight.lacks:
        return LOOK_FOR_SECRET
    if sight.copying.again is not None:
        return max(0.1, sight.copying.again)
    if not (sight.claim and sight.claim.bound):
        return None
    # A pod that starts tells of itself; only why it does not is worth another look.
    return LOOK_SOON if listening(sight.pods) else LOOK_FOR_SECRET


def waits_for_engine(data: SampleSet, sight: Sight) -> bool:
    """Nothing has begun: the user may still ask for another engine."""
    return bool(sight.no_engine) and not data.status.engine


def questions(data: SampleSet, seen: Snapshot) -> tuple[Question, ...]:
    """One runtime a partition, each asked for what it holds; and whether the Secrets it needs are there."""
    pods = listening(runtimes(data, seen))
    if data.metadata.deletion_timestamp is not None:
        return tuple(q for p in pods.values() for q in end_questions(data, p))
    asked: tuple[Question, ...] = tuple(state_question(p, data) for p in pods.values())
    engine = choose(data, seen.all(Node), seen.all(CSIDriver)).engine
    asked += (*sync_questions(data, engine, pods), *departure_questions(data, pods, seen))
    if data.status.phase is SampleSetPhase.READY and all(p.ready for p in pods.values()) and pods:
        return asked
    asked += warning_questions(runtimes(data, seen).values())
    return (*asked, token_question(data), *(q for q, _ in secrets_of(data, engine)))


def related(data: SampleSet) -> tuple[Ref | Selection, ...]:
    return (
        # Who reads a copy that is to go may be any pod.
        Selection(Pod, data.namespace, () if said(data) else ((LABEL, data.name),)),
        Selection(Node),
        Ref(CSIDriver, "", DRIVER),
        TABLE,
        # A job that ends has changed what there is.
        Selection(SampleJob, data.namespace),
    )


CONTROLLER = Controller(
    "sampleset",
    SampleSet,
    reconcile,
    owns=(PersistentVolume, PersistentVolumeClaim, Service, StatefulSet),
    reads=(Pod, Node, CSIDriver, SampleJob, ConfigMap),
    related=related,
    asks=questions,
    patches=(Node,),
    keeps_tokens=True,
    hears_warnings=True,
    while_deleting=True,
)


def mirror_notes(written: SampleSet, data: SampleSet, sight: Sight) -> tuple[Note, ...]:
    """What is read instead of the source, told when the copy begins."""
    if written.spec.source is None or data.spec.source is None or written.spec.source == data.spec.source:
        return ()
    known = data.status.jobs_name.sync_job_name if data.status.jobs_name else ""
    if sight.copying.attempt is None or known.startswith(stem(data)):
        return ()
    what = f"{shown(written.spec.source.uri)} is read from its mirror {shown(data.spec.source.uri)}"
    return (Note("Normal", "Mirror", what),)


def notes(data: SampleSet, choice: Choice, phase: SampleSetPhase, told: list[Condition]) -> tuple[Note, ...]:
    """What is new since the status was written last, as events."""
    known = {(c.reason, c.message) for c in data.status.conditions}
    found = [Note("Normal", "Engine", choice.why)] if choice.why and not data.status.engine else []
    for one in told:
        if one.reason in TROUBLES and (one.reason, one.message) not in known:
            found.append(Note("Warning", TROUBLES[one.reason], one.message))
    if phase is data.status.phase or not told:
        return tuple(found)
    if phase is SampleSetPhase.SYNC_FAILED:
        found.append(Note("Warning", "SyncFailed", told[0].message))
    if phase is SampleSetPhase.PARTIAL_READY and data.status.phase is SampleSetPhase.READY:
        found.append(Note("Warning", "PartialReady", told[0].message))
    if phase is SampleSetPhase.READY:
        found.append(Note("Normal", "Ready", "every file is there and was verified"))
    return tuple(found)
