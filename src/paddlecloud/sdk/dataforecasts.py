"""Forecasts of a data set asked for, and set beside what happened since."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from ..api.forecast import Forecast
from ..api.meta import Key
from ..api.paddlejob import PaddleJob
from ..api.samplejob import SampleJob, SampleJobPhase
from ..api.sampleset import SampleSet
from ..controllers.jobphase import deciding_role
from ..errors import BadRequest, Failed, NotFound
from .client import Client
from .dataepochs import epochs_of
from .datajobs import job_name, make_job
from .datareports import Report, reported
from .joblines import LogWish, lines_of
from .waiting import wait_for

PATIENCE = 600.0


def forecast(client: Client, key: Key, options: dict[str, Any], timeout: float = PATIENCE) -> Forecast:
    """Have the runtimes of a set measure; options as in `forecastOptions`.

    Raises `Failed` with their words, or `TimedOut`.
    """
    made = client.create(
        make_job("forecast", key, job_name(key.name, "forecast", secrets.token_hex(3)), options)
    )
    done = wait_for(client, SampleJob, made.key, lambda job: job.status.phase.final, timeout)
    if done.status.phase is SampleJobPhase.FAILED or done.status.forecast is None:
        why = next((c.message for c in done.status.conditions if c.type == "Failed"), "nothing was measured")
        raise Failed(f"no forecast of data set {key.name}: {why}", next_step=f"pdc why samplejob/{made.name}")
    return done.status.forecast


def report(client: Client, key: Key, job: str = "") -> Report:
    """What was predicted of a set, and what the operations on it and the epochs of *job* took.

    Without *job* the one that the forecast was made for counts.
    """
    data = client.get(SampleSet, *key)
    found = data.status.forecast
    reader = job or (found.job if found else "")
    training = client.find(PaddleJob, key.namespace, reader) if reader else None
    jobs = [
        j
        for j in client.list(SampleJob, key.namespace).items
        if j.spec.sample_set_ref and j.spec.sample_set_ref.name == key.name
    ]
    return reported(found, jobs, epochs_of(said_by(client, training)) if training else [])


def said_by(client: Client, job: PaddleJob) -> Iterator[str]:
    """The lines of the first pod that tells how far the job is, with their times."""
    role = deciding_role(job)
    try:
        for line in lines_of(client, job, LogWish(role, query={"timestamps": "true"})):
            if line.speaker == f"{role}-0":
                yield line.text
    except (NotFound, BadRequest):
        return  # nothing was said yet, or nothing is kept
