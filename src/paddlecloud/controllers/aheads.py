"""Which epoch a warm-up loads that goes on while a job trains: the one after the epoch the job is in; pure.

The job tells its epoch in its status. Samplers count from zero whatever a training prints, so that the number
by which it calls its first epoch is part of the wish.
"""

from __future__ import annotations

from ..api.paddlejob import PaddleJob
from ..api.samplejob import Ahead, JobType, SampleJob
from .contract import Snapshot
from .progress import WHERE


def ahead_of(job: SampleJob) -> Ahead | None:
    options = job.spec.warmup_options
    return options.ahead if options and job.spec.type is JobType.WARMUP else None


def training_of(job: SampleJob, seen: Snapshot) -> PaddleJob | None:
    ahead = ahead_of(job)
    return seen.find(PaddleJob, ahead.job) if ahead else None


def epoch_to_load(job: SampleJob, training: PaddleJob) -> int:
    """In the numbers of samplers: the first until one is begun, then the next, at most the last."""
    ahead, options = ahead_of(job), job.spec.warmup_options
    assert ahead is not None and options is not None
    begin, progress = options.epoch or 0, training.status.progress
    told = progress.metrics.get("epoch") if progress else None
    if progress is None or told is None:
        return begin
    first = 1 if ahead.first_epoch is None else ahead.first_epoch
    following = begin + max(0, int(told) - first) + 1
    whole = WHERE.match(progress.message)
    return min(following, begin + int(whole[2]) - 1) if whole else following
