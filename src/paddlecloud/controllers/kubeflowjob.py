"""Has a PaddleJob of Kubeflow done by one of ours with the same name, and says how far that is; pure.

Ours is made from it, follows its edits, and goes with it. Once the end is told, nothing is made again.
"""

from __future__ import annotations

from ..api.kubeflow import JobCondition, KubeflowPaddleJob
from ..api.paddlejob import PaddleJob
from .contract import Controller, Decision, Ending, Ref, Selection, Snapshot, Update
from .kubeflowspec import hindrances, next_patch, translated
from .kubeflowstatus import CREATED, FAILED, created, not_begun, said, status_from
from .ownership import left_behind


def reconcile(job: KubeflowPaddleJob, seen: Snapshot) -> Decision:
    ours = seen.owned(PaddleJob).get(job.name)
    if job.status.completion_time is not None:
        return finished(job, ours, seen)
    why = next(iter(hindrances(job.spec)), "")
    if ours is None:
        return begun(job, why, seen)
    status = status_from(job, ours, why, seen.now)
    patch = {} if why or ours.status.phase.final else next_patch(ours.spec.wire(), translated(job.spec))
    changes = (Update(ours, {"spec": patch}),) if patch else ()
    return Decision(status, (ours,), changes=changes)


def begun(job: KubeflowPaddleJob, why: str, seen: Snapshot) -> Decision:
    """Make ours, unless that is impossible: then the status says why."""
    if why:
        return told(job, [said(CREATED, "PaddleJobCreated"), said(FAILED, "NotSupported", why)], seen)
    there = seen.find(PaddleJob, job.name)
    if there is not None and not left_behind(there, job):
        sentence = (
            f"the job would be done by PaddleJob {job.name} of batch.paddlepaddle.org, which exists and is "
            "not its own: delete that, or give this one another name"
        )
        return told(job, [said(CREATED, "NameTaken", sentence, status="False")], seen)
    condition = created(job, None)
    if seen.refused:
        condition = said(CREATED, "FailedCreate", seen.refused[0], status="False")
    made = PaddleJob.read(
        {"metadata": {"name": job.name, "namespace": job.namespace}, "spec": translated(job.spec)}
    )
    return Decision(not_begun(job, [condition], seen.now), (made,))


def told(job: KubeflowPaddleJob, conditions: list[JobCondition], seen: Snapshot) -> Decision:
    return Decision(not_begun(job, conditions, seen.now), ())


def finished(job: KubeflowPaddleJob, ours: PaddleJob | None, seen: Snapshot) -> Decision:
    """What was told stays told; when its time has come, the job goes, and ours with it."""
    children = (ours,) if ours else ()
    stays, ended = job.spec.run_policy.ttl_seconds_after_finished, job.status.completion_time
    if stays is None or ended is None:
        return Decision(job.status, children)
    left = stays - (seen.now - ended).total_seconds()
    if left <= 0:
        return Decision(job.status, children, ending=Ending())
    return Decision(job.status, children, check_again=left)


def related(job: KubeflowPaddleJob) -> tuple[Ref | Selection, ...]:
    """Whoever has the name that ours would have."""
    return (Ref(PaddleJob, job.namespace, job.name),)


CONTROLLER = Controller(
    "kubeflowjob", KubeflowPaddleJob, reconcile, owns=(PaddleJob,), reads=(PaddleJob,), related=related
)
