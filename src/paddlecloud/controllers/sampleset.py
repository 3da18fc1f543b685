"""Decides how a SampleSet becomes data that a job can mount: claim, runtime, sync, verified.

    ""  →  Bound (the claim has a volume)  →  Mount (a runtime answers)  →  Syncing  →  Ready
                                                                       ↘  SyncFailed, tried again

The runtime tells what it sees; this module only believes it. Ready means: every file is there and its
content was checked.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, ValidationError

from ..api.core import PersistentVolumeClaim, Pod, StatefulSet
from ..api.meta import Condition, Metadata, Progress, Value
from ..api.sampleset import CacheStatus, Driver, RuntimeStatus, SampleSet, SampleSetPhase, SampleSetStatus
from ..sizes import count, size
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Controller, Decision, HttpQuestion, Note, Question, Ref, Selection, Snapshot

PORT = 7716
IMAGE = "paddlecloud/core"
STORAGE_CLASS = "hostpath"
LABEL = "sampleset.paddlepaddle.org/name"
DATA = "/sampleset"
SOURCE = "source"
NO_FOLDER = f'SetUp failed for volume "{SOURCE}" : hostPath type check failed'
"""What a kubelet says of a folder that is not there."""
LOOK_EVERY = {SampleSetPhase.READY: 30.0}
LOOK_SOON = 1.0


class Answer(Value):
    """What a runtime says at `/status`; sizes in bytes."""

    phase: str = ""
    message: str = ""
    total_bytes: int = Field(0, ge=0)
    total_files: int = Field(0, ge=0)
    cached_bytes: int = Field(0, ge=0)
    disk_size: int = Field(0, ge=0)
    disk_used: int = Field(0, ge=0)
    disk_avail: int = Field(0, ge=0)
    revision: str = ""
    progress: Progress | None = None


def answer_of(body: Any) -> Answer | None:
    """None where something else than a runtime answered."""
    try:
        return Answer.model_validate(body)
    except ValidationError:
        return None


def reconcile(data: SampleSet, seen: Snapshot) -> Decision:
    claim = seen.owned(PersistentVolumeClaim).get(data.name)
    answers = [a for q in questions(data, seen) if (a := answer_of(seen.answers.get(q)))]
    phase, current = state_of(data, claim, seen.all(Pod), answers)
    status = SampleSetStatus(
        phase=phase,
        cache_status=cache_of(answers) or data.status.cache_status,
        runtime_status=runtime_of(data, seen),
        revision=next((a.revision for a in answers if a.revision), data.status.revision),
        observed_generation=data.metadata.generation,
        progress=progress_of(data, answers, seen) if phase is SampleSetPhase.SYNCING else None,
        conditions=set_conditions(data.status.conditions, current, seen.now),
    )
    wanted: tuple[Any, ...] = (make_claim(data),)
    if claim and claim.bound:
        wanted = (*wanted, make_runtime(data))
    return Decision(
        status,
        wanted,
        notes=notes(data, phase, current),
        check_again=LOOK_EVERY.get(phase, LOOK_SOON) if claim and claim.bound else None,
    )


def questions(data: SampleSet, seen: Snapshot) -> tuple[Question, ...]:
    """One runtime a partition, each asked for what it holds."""
    running = [p for p in seen.all(Pod) if p.ip and p.phase == "Running"]
    return tuple(HttpQuestion(f"http://{p.ip}:{PORT}/status") for p in sorted(running, key=lambda p: p.name))


def related(data: SampleSet) -> tuple[Ref | Selection, ...]:
    return (Selection(Pod, data.namespace, ((LABEL, data.name),)),)


CONTROLLER = Controller(
    "sampleset",
    SampleSet,
    reconcile,
    owns=(PersistentVolumeClaim, StatefulSet),
    reads=(Pod,),
    related=related,
    asks=questions,
)


def state_of(
    data: SampleSet,
    claim: PersistentVolumeClaim | None,
    pods: tuple[Pod, ...],
    answers: list[Answer],
) -> tuple[SampleSetPhase, list[Condition]]:
    if problem := unsupported(data):
        return SampleSetPhase.SYNC_FAILED, [condition("Ready", False, "Unsupported", problem)]
    if claim is None or not claim.bound:
        return SampleSetPhase.NONE, [waiting("WaitingForVolume", f"claim {data.name} waits for a volume")]
    if not answers:
        if data.status.phase is SampleSetPhase.READY:
            # A runtime that restarts takes nothing away from data that was verified.
            return SampleSetPhase.READY, data.status.conditions
        if why := missing_source(data, pods):
            return SampleSetPhase.SYNC_FAILED, [
                condition("Ready", False, "SourceMissing", why),
                waiting("SourceMissing", f"{why}; the sync begins by itself when it is there"),
            ]
        here = ", ".join(f"{p.name} is {p.phase}" for p in pods) or "its pod is being made"
        phase = SampleSetPhase.MOUNT if pods else SampleSetPhase.BOUND
        return phase, [waiting("WaitingForRuntime", f"the cache runtime does not answer yet: {here}")]
    phases = {a.phase for a in answers}
    if "Failed" in phases:
        why = next(a.message for a in answers if a.phase == "Failed")
        return SampleSetPhase.SYNC_FAILED, [
            condition("Ready", False, "SyncFailed", why),
            waiting("SyncFailed", f"{why}; it is tried again when the source can be read"),
        ]
    if phases == {"Synced"}:
        if len(answers) < data.spec.partitions:
            done = f"{len(answers)} of {data.spec.partitions} partitions are ready"
            return SampleSetPhase.PARTIAL_READY, [progressing("Partial", done)]
        return SampleSetPhase.READY, [condition("Ready", True, "Verified"), progressing("Ready")]
    return SampleSetPhase.SYNCING, [progressing("Syncing", answers[0].message)]


def missing_source(data: SampleSet, pods: tuple[Pod, ...]) -> str:
    """What keeps the runtimes from starting, where a node says that the folder of the source is not there."""
    for pod in pods:
        for status in pod.status.get("containerStatuses") or ():
            said = str((status["state"].get("waiting") or {}).get("message") or "")
            if NO_FOLDER in said and data.spec.source is not None:
                return f"the source {data.spec.source.uri} is missing: there is no such folder on {pod.node}"
    return ""


def unsupported(data: SampleSet) -> str:
    if data.spec.csi.driver is Driver.JUICEFS:
        return "the engine juicefs is not available on this cluster; set csi.driver to local or auto"
    uri = data.spec.source.uri if data.spec.source else ""
    scheme = urlsplit(uri).scheme
    if uri and scheme != "file":
        return f"source {scheme}:// is not supported by the engine local; use file:///path"
    if not uri and not data.spec.no_sync:
        return "spec.source.uri is missing: say where the data is, or set noSync"
    return ""


def cache_of(answers: list[Answer]) -> CacheStatus | None:
    if not answers:
        return None
    first, cached = answers[0], max(a.cached_bytes for a in answers)
    return CacheStatus(
        total_size=size(first.total_bytes),
        total_files=count(first.total_files),
        cached_size=size(min(first.total_bytes, cached)),
        disk_size=size(first.disk_size),
        disk_used=size(first.disk_used),
        disk_avail=size(first.disk_avail),
        disk_usage_rate=f"{100 * first.disk_used / first.disk_size:.1f}%" if first.disk_size else "",
    )


def runtime_of(data: SampleSet, seen: Snapshot) -> RuntimeStatus:
    ready = sum(1 for p in seen.all(Pod) if p.ready)
    wanted = data.spec.partitions
    return RuntimeStatus(spec_replicas=wanted, ready_replicas=ready, runtime_ready=f"{ready}/{wanted}")


def progress_of(data: SampleSet, answers: list[Answer], seen: Snapshot) -> Progress | None:
    given, old = answers[0].progress, data.status.progress
    if old is not None and given is not None and (old.done, old.total) == (given.done, given.total):
        return old  # a sync that stands still is no reason to write
    return given.but(updated_at=seen.now) if given else None


def make_claim(data: SampleSet) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(
        metadata=Metadata(name=data.name, namespace=data.namespace, labels={LABEL: data.name}),
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": STORAGE_CLASS,
            # A claim must name a size; folders on a disk do not enforce it.
            "resources": {"requests": {"storage": "1Gi"}},
        },
    )


def make_runtime(data: SampleSet) -> StatefulSet:
    name, labels = f"{data.name}-runtime", {LABEL: data.name}
    uri = data.spec.source.uri if data.spec.source else ""
    command = ["python", "-m", "paddlecloud.cache.runtime", "--data", DATA, "--port", str(PORT)]
    command += ["--uri", uri] if uri else []
    command += ["--no-sync"] if data.spec.no_sync else []
    volumes: list[dict[str, Any]] = [{"name": "data", "persistentVolumeClaim": {"claimName": data.name}}]
    mounts = [{"name": "data", "mountPath": DATA}]
    if urlsplit(uri).scheme == "file":
        # The same path inside as outside, so that the URI means the same to both.
        folder = unquote(urlsplit(uri).path)
        # With its type nobody makes up an empty folder for one that is missing.
        volumes.append({"name": SOURCE, "hostPath": {"path": folder, "type": "Directory"}})
        mounts.append({"name": SOURCE, "mountPath": folder})
    container = {
        "name": "runtime",
        "image": IMAGE,
        "command": command,
        "ports": [{"name": "runtime", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": PORT}, "periodSeconds": 2},
        "volumeMounts": mounts,
    }
    pod = {"containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 5}
    return StatefulSet(
        metadata=Metadata(name=name, namespace=data.namespace, labels=labels),
        spec={
            "replicas": data.spec.partitions,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )


def notes(data: SampleSet, phase: SampleSetPhase, current: list[Condition]) -> tuple[Note, ...]:
    if phase is data.status.phase:
        return ()
    if phase is SampleSetPhase.SYNC_FAILED:
        return (Note("Warning", "SyncFailed", current[0].message),)
    if phase is SampleSetPhase.READY:
        return (Note("Normal", "Ready", "every file is there and was verified"),)
    return ()
