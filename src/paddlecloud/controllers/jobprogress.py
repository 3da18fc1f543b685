"""Which pod tells how far a PaddleJob is, what it is asked, and what is made of the answers; pure."""

from __future__ import annotations

from datetime import datetime

from ..api.core import Pod
from ..api.meta import Progress
from ..api.paddlejob import PaddleJob
from .contract import LogQuestion, Question, RecordsQuestion, Snapshot
from .jobphase import deciding_role
from .jobpods import pod_name
from .progress import read_log
from .recorded import read_both, wants_records


def progress_of(
    job: PaddleJob, pods: dict[str, Pod], start: datetime | None, seen: Snapshot
) -> Progress | None:
    first, before = teller(job, pods), job.status.progress
    if first is None:
        return before
    text, records = seen.answers.get(log_of(first)), seen.answers.get(records_of(first))
    if records:
        return read_both(text if isinstance(text, str) else "", records, before, start, seen.now)
    return read_log(text, before, start, seen.now) if isinstance(text, str) else before


def progress_asked(job: PaddleJob, first: Pod, seen: Snapshot) -> tuple[Question, ...]:
    """What the pod that tells how far the job is printed, and wrote down if that may tell more."""
    # Elsewhere nobody reads a pod's files: asking would only cost a refusal with every look.
    more = seen.logs_kept and wants_records(job.status.progress)
    return (log_of(first), *((records_of(first),) if more else ()))


def teller(job: PaddleJob, pods: dict[str, Pod]) -> Pod | None:
    """The pod whose output tells how far the job is."""
    return pods.get(pod_name(job, deciding_role(job), 0))


def log_of(pod: Pod) -> LogQuestion:
    return LogQuestion(pod.namespace, pod.name, first_container(pod))


def records_of(pod: Pod) -> RecordsQuestion:
    return RecordsQuestion(pod.namespace, pod.name, first_container(pod))


def first_container(pod: Pod) -> str:
    containers = pod.spec.get("containers") or [{}]
    return str(containers[0].get("name", ""))
