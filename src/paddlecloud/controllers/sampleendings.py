"""What a SampleJob that ended well has to tell: what was done, what was measured, what it is worth; pure."""

from __future__ import annotations

from ..api.forecast import Forecast, Outcome
from ..api.paddlejob import PaddleJob
from ..api.samplejob import JobType, SampleJob
from ..api.sampleset import SampleSet
from .contract import Snapshot
from .dataengines import JUICEFS
from .dataforecasts import forecast, slowest
from .partitions import Report, Result


def told(
    job: SampleJob, data: SampleSet, results: list[Result], reports: list[Report], seen: Snapshot
) -> dict[str, Outcome | Forecast]:
    """The fields of its status."""
    said: dict[str, Outcome | Forecast] = {"outcome": summed([r.stats for r in results])} if results else {}
    if measured := [r.measured for r in results if r.measured]:
        options = job.spec.forecast_options
        training = seen.find(PaddleJob, options.job) if options else None
        said["forecast"] = forecast(job, data, training, (slowest(measured), reports), seen)
    return said


def summed(stats: list[Outcome]) -> Outcome:
    return Outcome(
        files=sum(one.files for one in stats),
        bytes=sum(one.bytes for one in stats),
        copied=sum(one.copied for one in stats),
        skipped=sum(one.skipped for one in stats),
        deleted=sum(one.deleted for one in stats),
        seconds=max(one.seconds for one in stats),
    )


def near_later(job: SampleJob, data: SampleSet) -> str:
    """What a warm-up of one shuffled epoch is worth in the others; empty where all is near."""
    options = job.spec.warmup_options
    if job.spec.type is not JobType.WARMUP or options is None or options.strategy_name != "random":
        return ""
    if data.status.engine != JUICEFS or data.spec.partitions == 1:
        return ""
    return (
        f"the files of epoch {options.epoch or 0} are near; of what another epoch reads, about "
        f"{100 / data.spec.partitions:.0f} % are (warmupOptions.ahead loads each epoch's in time)"
    )
