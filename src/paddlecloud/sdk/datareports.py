"""What was predicted of a data set beside what happened: warm-ups and syncs, epochs cold and warm; pure.

An epoch is warm when it began after everything was near, and cold when it ended before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import mean
from typing import Any, NamedTuple

from ..api.forecast import Forecast
from ..api.samplejob import JobType, SampleJob, SampleJobPhase
from .dataepochs import Epoch


class Row(NamedTuple):
    """Seconds; None where nothing was predicted, or nothing has happened."""

    what: str
    predicted: float | None
    happened: float | None
    times: int = 0
    """Of how many it is the mean."""

    @property
    def ratio(self) -> float | None:
        """Above 1: it took longer than predicted."""
        return self.happened / self.predicted if self.predicted and self.happened is not None else None


class Report(NamedTuple):
    forecast: Forecast | None
    rows: tuple[Row, ...]
    operations: tuple[SampleJob, ...]
    """Those that ended well, in the order of their ends."""

    def json(self) -> dict[str, Any]:
        rows = [{**row._asdict(), "ratio": row.ratio} for row in self.rows]
        done = [
            {
                "name": job.name,
                "type": str(job.spec.type),
                **(job.status.outcome.wire() if job.status.outcome else {}),
            }
            for job in self.operations
        ]
        return {"forecast": self.forecast.wire() if self.forecast else None, "rows": rows, "operations": done}


def reported(forecast: Forecast | None, jobs: Iterable[SampleJob], epochs: Sequence[Epoch]) -> Report:
    done = sorted(
        (j for j in jobs if j.status.phase is SampleJobPhase.SUCCEEDED and j.status.completion_time),
        key=ended,
    )
    moved = tuple(j for j in done if j.spec.type in (JobType.SYNC, JobType.WARMUP))
    since = forecast.made_at if forecast else None
    warmups = [j for j in moved if j.spec.type is JobType.WARMUP and (since is None or ended(j) >= since)]
    # Where nothing was missing when the forecast was made, all was near from the first.
    warm_at = ended(warmups[0]) if warmups else since if forecast and not forecast.missing else None
    cold = [e.seconds for e in epochs if warm_at is None or e.end <= warm_at]
    warm = [e.seconds for e in epochs if warm_at is not None and e.begin >= warm_at]
    taken = [j.status.outcome.seconds for j in warmups[:1] if j.status.outcome]
    said = forecast or Forecast()
    rows = (
        row("warm-up", said.warm_seconds, taken),
        row("epoch, cold", said.cold_epoch_seconds, cold),
        row("epoch, warm", said.warm_epoch_seconds, warm),
        Row("gain", said.gain or None, mean(cold) / mean(warm) if cold and warm and mean(warm) else None),
    )
    return Report(forecast, rows, moved)


def row(what: str, predicted: float, happened: Sequence[float]) -> Row:
    return Row(what, predicted or None, mean(happened) if happened else None, len(happened))


def ended(job: SampleJob) -> datetime:
    assert job.status.completion_time is not None
    return job.status.completion_time
