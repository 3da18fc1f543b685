"""What warming a data set takes and gains, from its size, the speeds that were measured and the job; pure.

Reading and computing overlap: an epoch takes as long as the slower of the two. Cold means that all comes over
the link, warm that all lies on the node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..api.forecast import Forecast, Speeds
from ..api.paddlejob import PaddleJob
from ..api.samplejob import ForecastOptions, SampleJob
from ..api.sampleset import SampleSet
from .contract import Snapshot
from .dataengines import JUICEFS
from .partitions import Report

READERS = 2


@dataclass(frozen=True)
class Load:
    """What is to be read, and by whom."""

    bytes: int
    files: int
    missing: float
    """Bytes that a partition has to fetch to be warm."""
    workers: int
    compute: float = 0.0
    """Seconds a file."""


@dataclass(frozen=True)
class Prediction:
    """Seconds; 0 where nothing is known."""

    warm: float
    cold_epoch: float
    warm_epoch: float

    @property
    def gain(self) -> float:
        return self.cold_epoch / self.warm_epoch if self.warm_epoch else 0.0

    @property
    def pays_after(self) -> float:
        """Epochs; 0: never."""
        saved = self.cold_epoch - self.warm_epoch
        return self.warm / saved if saved > 0 else 0.0


def predicted(load: Load, speeds: Speeds) -> Prediction:
    each, compute = load.bytes / load.workers, load.compute * load.files / load.workers
    return Prediction(
        warm=seconds(load.missing, speeds.link),
        cold_epoch=max(seconds(each, speeds.cold), compute),
        warm_epoch=max(seconds(each, speeds.near), compute),
    )


def seconds(size: float, speed: float) -> float:
    return size / speed if speed else 0.0


def slowest(measured: Iterable[Speeds]) -> Speeds:
    """An epoch and a warm-up end with their slowest part."""
    all_of = list(measured)
    return Speeds(
        link=min(s.link for s in all_of), cold=min(s.cold for s in all_of), near=min(s.near for s in all_of)
    )


def forecast(
    job: SampleJob,
    data: SampleSet,
    training: PaddleJob | None,
    told: tuple[Speeds, list[Report]],
    seen: Snapshot,
) -> Forecast:
    """What the runtimes of *data* measured and hold, as a prediction for *training*."""
    speeds, reports = told
    options = job.spec.forecast_options or ForecastOptions()
    total = max((r.total_size for r in reports), default=0)
    missing = total - min((r.cached_size for r in reports), default=0)
    # One file system is warmed by its partitions together, copies by each for itself.
    shared = data.spec.partitions if data.status.engine == JUICEFS else 1
    worker = training.spec.worker if training else None
    load = Load(
        bytes=total,
        files=max((r.total_files for r in reports), default=0),
        missing=missing / shared,
        workers=max(1, worker.replicas if worker else data.spec.partitions),
        compute=(options.compute_milliseconds or 0.0) / 1000,
    )
    found = predicted(load, speeds)
    return Forecast(
        job=options.job, made_at=seen.now, bytes=total, files=load.files, missing=round(load.missing),
        workers=load.workers, readers=options.readers or READERS, speeds=speeds,
        warm_seconds=round(found.warm, 6), cold_epoch_seconds=round(found.cold_epoch, 6),
        warm_epoch_seconds=round(found.warm_epoch, 6), gain=round(found.gain, 2),
        pays_after=round(found.pays_after, 2),
    )  # fmt: skip


def newest_forecast(data: SampleSet, jobs: Iterable[SampleJob]) -> Forecast | None:
    """The last that was made of *data*; one that is known stays when its job is gone."""
    mine = (
        j.status.forecast for j in jobs if j.spec.sample_set_ref and j.spec.sample_set_ref.name == data.name
    )
    known = [f for f in (data.status.forecast, *mine) if f is not None and f.made_at is not None]
    return max(known, key=lambda f: f.made_at.timestamp() if f.made_at else 0.0, default=None)
