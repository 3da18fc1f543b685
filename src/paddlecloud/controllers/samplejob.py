"""Decides how far an operation on the data of a SampleSet is: told to the runtimes, at work, ended.

    ""  →  Pending (waits for the runtimes)  →  Running  →  Succeeded | Failed

The runtimes know an operation by an id that follows from the job: whoever forgets it is told again. A job
that failed begins anew when its options are edited; one that succeeded has ended. A job with a schedule does
nothing itself: it makes jobs. A warm-up ahead of a training has one operation an epoch, and ends with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..api.core import ConfigMap, Pod
from ..api.meta import Condition
from ..api.paddlejob import PaddleJob
from ..api.samplejob import JobType, SampleJob, SampleJobPhase, SampleJobStatus
from ..api.sampleset import SampleSet
from ..mirroring import mirrored
from .aheads import ahead_of, epoch_to_load, training_of
from .conditions import condition, progressing, set_conditions, waiting
from .contract import (
    Controller,
    Decision,
    HttpCall,
    Note,
    Question,
    Ref,
    SecretQuestion,
    Selection,
    Snapshot,
)
from .dataengines import named, source_keys
from .dataruntimes import (
    address,
    keys_at_hand,
    listening,
    result_question,
    runtime_name,
    state_question,
    token_of,
    upload,
)
from .datasecrets import unusable
from .datavolumes import LABEL
from .mirrors import TABLE, mirrors_of
from .partitions import Result, progress_of, report_of, result_of
from .sampleendings import near_later, told
from .sampleoperations import (
    TERMINATE,
    body_of,
    kind_of,
    mistake,
    operation_name,
    out_of_sight,
    source_of,
    targets,
)
from .sampleschedules import on_schedule

LOOK_SOON, LOOK_FOR_SECRET, LOOK_AHEAD = 1.0, 5.0, 30.0
Phase = SampleJobPhase


def reconcile(job: SampleJob, seen: Snapshot) -> Decision:
    if job.spec.schedule:
        return on_schedule(job, seen)
    name = current_name(job, seen)
    if has_ended(job):
        return Decision(job.status.but(observed_generation=job.metadata.generation))
    if why := mistake(job):
        return ended(job, name, Phase.FAILED, f"Invalid: {why}", seen)
    data = seen.find(SampleSet, set_name(job))
    if wait := waits(job, data, seen):
        return pending(job, wait, seen)
    assert data is not None
    begun = job.status.job_name.startswith(operation_name(job))
    if not begun and (why := out_of_sight(job, data, mirrors_of(seen))):
        return ended(job, name, Phase.FAILED, f"Invalid: {why}", seen)
    if (training := training_of(job, seen)) and training.status.phase.final:
        return ended(job, name, Phase.SUCCEEDED, f"PaddleJob {training.name} has ended", seen)
    if job.spec.terminate and not begun:
        # Nothing of this job is there yet that it could end.
        calls = tuple(terminating(p, data) for p in answering(data, seen).values())
        return pending(
            job, progressing("Terminating", "what the runtimes do is ended first"), seen, name, calls
        )
    return under_way(job, data, name, seen)


def under_way(job: SampleJob, data: SampleSet, name: str, seen: Snapshot) -> Decision:
    """Tell those who do not know of it, and believe those who do."""
    pods = targets(job, data, answering(data, seen))
    operation, token, training = kind_of(job), token_of(data), training_of(job, seen)
    epoch = epoch_to_load(job, training) if training else None
    body = body_of(job, data, mirrors_of(seen), epoch)
    results: list[Result] = []
    untold: list[HttpCall] = []
    for pod in pods.values():
        call = upload(pod, token, operation, name, body)
        if why := seen.rebuffs.get(call):
            return ended(job, name, Phase.FAILED, f"{pod.name}: {why}", seen)
        result = result_of(seen.answers.get(result_question(pod, token, operation, name)))
        if result is None:
            untold.append(call)
            continue
        results.append(result)
        if result.ended_badly:
            return ended(job, name, Phase.FAILED, f"{pod.name}: {result.message or result.status}", seen)
    done = not untold and all(r.status == "success" for r in results)
    if done and training is None:
        return succeeded(job, data, name, results, seen)
    running = any(r.status in ("running", "success") for r in results)
    doing = progressing(
        "Running" if running else "Queued", f"{len(results)} of {len(pods)} runtimes work on it"
    )
    if done and training is not None:
        loaded = epoch_to_load(job, training)
        doing = progressing("Ahead", f"the files of epoch {loaded} are near; {training.name} trains")
    status = SampleJobStatus(
        phase=Phase.RUNNING if running else Phase.PENDING,
        job_name=name,
        observed_generation=job.metadata.generation,
        progress=progress_of(job.status.progress, (r.progress for r in results), seen.now),
        conditions=set_conditions(job.status.conditions, [doing], seen.now),
    )
    if done:
        return Decision(status, glance=LOOK_AHEAD)
    return Decision(status, calls=tuple(untold), check_again=LOOK_SOON)


def succeeded(job: SampleJob, data: SampleSet, name: str, results: list[Result], seen: Snapshot) -> Decision:
    decision = ended(job, name, Phase.SUCCEEDED, near_later(job, data), seen)
    asked = (state_question(p, data) for p in answering(data, seen).values())
    reports = [report for q in asked if (report := report_of(seen.answers.get(q)))]
    assert isinstance(decision.status, SampleJobStatus)
    return replace(decision, status=decision.status.but(**told(job, data, results, reports, seen)))


def has_ended(job: SampleJob) -> bool:
    failed = job.status.phase is Phase.FAILED and job.status.job_name.startswith(operation_name(job))
    return job.status.phase is Phase.SUCCEEDED or failed


def current_name(job: SampleJob, seen: Snapshot) -> str:
    """Under which the runtimes know what they do now."""
    training = training_of(job, seen)
    return operation_name(job) + (f"-e{epoch_to_load(job, training)}" if training else "")


def pending(
    job: SampleJob, why: Condition, seen: Snapshot, name: str = "", calls: tuple[HttpCall, ...] = ()
) -> Decision:
    status = SampleJobStatus(
        phase=Phase.PENDING,
        job_name=name or job.status.job_name,
        observed_generation=job.metadata.generation,
        conditions=set_conditions(job.status.conditions, [why], seen.now),
    )
    known = {(c.reason, c.message) for c in job.status.conditions}
    news = why.status == "False" and (why.reason, why.message) not in known
    notes = (Note("Warning", why.reason, why.message),) if news else ()
    return Decision(status, notes=notes, calls=calls, check_again=LOOK_FOR_SECRET if not calls else LOOK_SOON)


def ended(job: SampleJob, name: str, phase: SampleJobPhase, why: str, seen: Snapshot) -> Decision:
    good, what = phase is Phase.SUCCEEDED, f"{kind_of(job).capitalize()}Job"
    told = [condition("Complete" if good else "Failed", True, "Done" if good else "OperationFailed", why)]
    status = SampleJobStatus(
        phase=phase,
        job_name=name,
        completion_time=seen.now,
        observed_generation=job.metadata.generation,
        conditions=set_conditions(job.status.conditions, told, seen.now),
    )
    note = Note("Normal", f"Do{what}Successfully", "all runtimes have done it") if good else None
    return Decision(status, notes=(note or Note("Warning", f"ErrorDo{what}", why),))


def waits(job: SampleJob, data: SampleSet | None, seen: Snapshot) -> Condition | None:
    """What has to be there before the runtimes can be told."""
    if data is None or data.metadata.deletion_timestamp is not None:
        why = f"SampleSet {set_name(job)} does not exist in namespace {job.namespace}; create it to go on"
        return waiting("ErrorSampleSetNotExist", why)
    there = answering(data, seen)
    if missing := [i for i in range(data.spec.partitions) if i not in there]:
        why = f"the runtime of partition {missing[0]} of SampleSet {data.name} does not answer yet"
        return waiting("WaitingForRuntime", f"{why} (pdc why sampleset/{data.name})")
    if (missing_job := reader_of(job)) and seen.find(PaddleJob, missing_job) is None:
        why = f"PaddleJob {missing_job} does not exist in namespace {job.namespace}; create it to go on"
        return waiting("ErrorPaddleJobNotExist", why)
    secret = named(job.spec.secret_ref) if job.spec.type is JobType.SYNC else ""
    if not secret:
        return None
    question = SecretQuestion(job.namespace, secret)
    source = mirrored(source_of(job, data), mirrors_of(seen).table)
    if why := unusable(question, source_keys(source), seen):
        return waiting("ErrorSecretNotExist", f"{why}; the job goes on by itself")
    if any(secret not in keys_at_hand(p.spec) for p in targets(job, data, there).values()):
        return waiting(
            "WaitingForKeys", f"the runtimes of SampleSet {data.name} are given the keys of {secret}"
        )
    return None


def terminating(pod: Pod, data: SampleSet) -> HttpCall:
    return HttpCall(f"{address(pod)}/upload/clearOptions?terminate=1", TERMINATE, "null", token_of(data))


def answering(data: SampleSet, seen: Snapshot) -> dict[int, Pod]:
    """The runtimes that answered at this look."""
    asked = listening(runtimes_of(data, seen))
    return {i: p for i, p in asked.items() if report_of(seen.answers.get(state_question(p, data)))}


def runtimes_of(data: SampleSet, seen: Snapshot) -> dict[int, Pod]:
    """Its pods, known by the names that its own status tells."""
    told = data.status.cache_status.partitions if data.status.cache_status else []
    names = {p.name: i for i, p in enumerate(told) if p.name == f"{runtime_name(data)}-{i}"}
    return {names[p.name]: p for p in seen.all(Pod) if p.name in names}


def reader_of(job: SampleJob) -> str:
    """The PaddleJob that the operation is for; empty where it is for none."""
    if ahead := ahead_of(job):
        return ahead.job
    options = job.spec.forecast_options
    return options.job if options and job.spec.type is JobType.FORECAST else ""


def set_name(job: SampleJob) -> str:
    return job.spec.sample_set_ref.name if job.spec.sample_set_ref else ""


class Asked(NamedTuple):
    """What is asked of one runtime."""

    state: Question
    result: Question


def questions(job: SampleJob, seen: Snapshot) -> tuple[Question, ...]:
    data = seen.find(SampleSet, set_name(job))
    if job.spec.schedule or has_ended(job) or data is None:
        return ()
    name = current_name(job, seen)
    asked: list[Question] = []
    for pod in listening(runtimes_of(data, seen)).values():
        asked += Asked(state_question(pod, data), result_question(pod, token_of(data), kind_of(job), name))
    if job.spec.type is JobType.SYNC and (secret := named(job.spec.secret_ref)):
        asked.append(SecretQuestion(job.namespace, secret))
    return tuple(asked)


def related(job: SampleJob) -> tuple[Ref | Selection, ...]:
    name = set_name(job)
    if not name or job.spec.schedule:
        return ()
    reader = reader_of(job)
    readers = (Ref(PaddleJob, job.namespace, reader),) if reader else ()
    around = (Ref(SampleSet, job.namespace, name), Selection(Pod, job.namespace, ((LABEL, name),)), TABLE)
    return (*around, *readers)


CONTROLLER = Controller(
    "samplejob",
    SampleJob,
    reconcile,
    owns=(SampleJob,),
    reads=(SampleSet, Pod, PaddleJob, ConfigMap),
    related=related,
    asks=questions,
    keeps_tokens=True,
)
