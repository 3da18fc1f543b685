"""Decides how a ModelVersion gets its files: one pod converts and uploads, its report makes it Ready.

    Pending → Uploading → Ready | Failed          final phases stay

The pod is idempotent (files are named by their content) and may run twice. Its report is a ConfigMap,
so it outlives the pod; a version without a report has no files, whatever else happened. One that is deleted
goes when nobody uses it (`modelusers`).
"""

from __future__ import annotations

import json
from dataclasses import replace

from ..api.batch import Job
from ..api.core import ConfigMap, Pod
from ..api.meta import Condition, Resource
from ..api.model import ModelPhase, ModelVersion, ModelVersionStatus
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Controller, Decision, LogQuestion, Note, Question, Ref, Selection, Snapshot
from .hub import SETTINGS, store_of
from .modelconversions import recorded, wanted
from .modelpods import CONTAINERS, REPORT, make_pod, pod_name, report_name, report_of
from .modelusers import FINALIZER, USERS, going, related_users


def reconcile(version: ModelVersion, seen: Snapshot) -> Decision:
    if version.metadata.deletion_timestamp is not None:
        return going(version, seen)
    decision = deciding(version, seen)
    return replace(decision, finalizers=(FINALIZER,))


def deciding(version: ModelVersion, seen: Snapshot) -> Decision:
    reports = tuple(seen.owned(ConfigMap).values())
    if version.status.phase.final:
        # What was written stays as it is. The pod goes once it has ended; a failed one is kept for its log.
        if version.status.phase is ModelPhase.FAILED:
            return Decision(version.status, (*reports, *seen.owned(Pod).values()))
        pods = tuple(p for p in seen.owned(Pod).values() if not p.finished)
        return converting(version, (*reports, *pods), seen)
    store = store_of(seen, version.namespace)
    status = status_of(version, store, seen)
    wanted: tuple[ConfigMap | Pod, ...] = (report_of(version),)
    if not status.phase.final and store:
        wanted = (*wanted, make_pod(version, store))
    elif status.phase.final:
        wanted = (*wanted, *seen.owned(Pod).values())
    return Decision(status, wanted, notes=notes(status))


def converting(version: ModelVersion, kept: tuple[Resource, ...], seen: Snapshot) -> Decision:
    """A Ready version, and the Jobs that make other formats of it."""
    new = recorded(version, seen)
    names = {(child.kind, child.name) for child in kept}
    jobs = tuple(c for c in wanted(version, new, seen) if (c.kind, c.name) not in names)
    status = version.status
    if new:
        status = status.but(conversions=[*status.conversions, *new])
    notes = tuple(
        Note("Normal" if c.files else "Warning", "Converted", f"to {c.format}: {c.message}") for c in new
    )
    return Decision(status, (*kept, *jobs), notes=notes)


def asks(version: ModelVersion, seen: Snapshot) -> tuple[Question, ...]:
    pod = seen.owned(Pod).get(pod_name(version))
    if pod is None or pod.phase != "Failed" or version.status.phase.final:
        return ()
    return tuple(LogQuestion(pod.namespace, pod.name, c) for c in CONTAINERS)


def related(version: ModelVersion) -> tuple[Ref | Selection, ...]:
    return (SETTINGS, *related_users(version))


CONTROLLER = Controller(
    "modelversion",
    ModelVersion,
    reconcile,
    owns=(Pod, ConfigMap, Job),
    reads=(ConfigMap, *USERS),
    related=related,
    asks=asks,
    while_deleting=True,
)


def status_of(version: ModelVersion, store: str, seen: Snapshot) -> ModelVersionStatus:
    old = version.status
    report = seen.owned(ConfigMap).get(report_name(version))
    pod = seen.owned(Pod).get(pod_name(version))
    if report and REPORT in report.data:
        return stored(old, report.data[REPORT], store, seen)
    if not store:
        message = "no model store is set: the ConfigMap hub in namespace paddlecloud needs the key store"
        return old.but(conditions=changed(old, [waiting("NoStore", message)], seen))
    if pod is not None and pod.phase == "Failed":
        why = failure(version, seen)
        return old.but(
            phase=ModelPhase.FAILED,
            conditions=changed(old, [condition("Ready", False, "UploadFailed", why)], seen),
        )
    phase = ModelPhase.UPLOADING if pod is not None and pod.phase == "Running" else ModelPhase.PENDING
    said = f"pod {pod_name(version)} is {pod.phase if pod else 'being made'}"
    return old.but(phase=phase, conditions=changed(old, [progressing(phase.value, said)], seen))


def stored(old: ModelVersionStatus, report: str, store: str, seen: Snapshot) -> ModelVersionStatus:
    """What the uploader reported."""
    try:
        body = json.loads(report)
        given = {k: v for k, v in body.items() if k in ("files", "signature", "conversions")}
        read = ModelVersionStatus.model_validate(given)
    except (ValueError, AttributeError) as error:
        why = f"the report of the upload cannot be read: {str(error).splitlines()[0]}"
        broken = [condition("Ready", False, "BrokenReport", why)]
        return old.but(phase=ModelPhase.FAILED, conditions=changed(old, broken, seen))
    return read.but(
        phase=ModelPhase.READY,
        storage=store,
        ready_time=seen.now,
        size=sum(f.size for f in read.files),
        conditions=changed(old, [condition("Ready", True, "Stored"), progressing("Ready")], seen),
    )


def changed(old: ModelVersionStatus, new: list[Condition], seen: Snapshot) -> list[Condition]:
    return set_conditions(old.conditions, new, seen.now)


def failure(version: ModelVersion, seen: Snapshot) -> str:
    for container in reversed(CONTAINERS):
        said = seen.answers.get(LogQuestion(version.namespace, pod_name(version), container))
        if said:
            lines = "\n".join(str(said).rstrip().splitlines()[-6:])
            return f"{container} failed; its last lines:\n{lines}"
    return f"pod {pod_name(version)} failed and left no log"


def notes(status: ModelVersionStatus) -> tuple[Note, ...]:
    if status.phase is ModelPhase.READY:
        return (Note("Normal", "Ready", f"{len(status.files)} files stored and verified"),)
    if status.phase is ModelPhase.FAILED:
        return (Note("Warning", "UploadFailed", status.conditions[0].message[:1000]),)
    return ()
