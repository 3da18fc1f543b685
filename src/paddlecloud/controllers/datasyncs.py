"""The copy of a SampleSet from its source: who is told to make it, how far it is, when it is tried again.

An attempt is known to the runtimes by an id that follows from the source and the number of the attempt, so
telling them twice is telling them once. A failed attempt is followed by another after a pause that grows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from ..api.core import Pod
from ..api.sampleset import SampleSet, SampleSetPhase
from .contract import HttpCall, HttpQuestion, Snapshot
from .dataengines import JUICEFS, named
from .dataruntimes import result_question, token_of, upload
from .partitions import FAILED, IDLE, SYNCED, Report, result_of

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0


class Attempt(NamedTuple):
    """One id under which the runtimes know the copy, and since when."""

    name: str
    since: datetime | None


class Copying(NamedTuple):
    """How the copy stands, partition by partition."""

    attempt: Attempt | None
    done: frozenset[int]
    failure: str = ""
    calls: tuple[HttpCall, ...] = ()
    again: float | None = None
    """Seconds until it is tried again."""


def sync_questions(data: SampleSet, engine: str, pods: Mapping[int, Pod]) -> tuple[HttpQuestion, ...]:
    known = data.status.jobs_name.sync_job_name if data.status.jobs_name else ""
    if not known or data.spec.no_sync:
        return ()
    if data.status.phase is SampleSetPhase.READY and engine != JUICEFS:
        # What a runtime says of its copy is enough as long as that is whole: a look costs half.
        return ()
    return tuple(result_question(pods[i], token_of(data), "sync", known) for i in targets(engine, pods))


def targets(engine: str, pods: Mapping[int, Pod]) -> list[int]:
    """Everybody with a copy of its own; of one file system the first."""
    return [i for i in pods if engine != JUICEFS or i == 0]


def copying(
    data: SampleSet, engine: str, pods: Mapping[int, Pod], reports: Mapping[int, Report], seen: Snapshot
) -> Copying:
    """What the runtimes that answered have done, and what they are told next."""
    if data.spec.no_sync:
        return Copying(None, frozenset(i for i, r in reports.items() if r.phase in (SYNCED, IDLE)))
    here = {i: pods[i] for i in reports}
    attempt = current(data, seen.now)
    told = data.status.jobs_name.sync_job_name if data.status.jobs_name else ""
    # What is verified then is what another source had.
    other = told not in ("", attempt.name)
    failure, before, done, untold = "", "", set(), []
    for i in targets(engine, here):
        call = upload(here[i], token_of(data), "sync", attempt.name, body_of(data))
        question = result_question(here[i], token_of(data), "sync", attempt.name)
        result, report = result_of(seen.answers.get(question)), reports[i]
        wrong = report.message or "the data is not what it was"
        if said := refused(call, seen) or (
            result.message or result.status if result and result.ended_badly else ""
        ):
            failure = failure or said
        elif result is None and report.phase == SYNCED and not other:
            # The runtime keeps only its latest results; what it holds it has verified.
            done.add(i)
        elif result is None:
            # What an earlier attempt left is told until this one is under way.
            untold.append(call)
            before = before or (wrong if report.phase == FAILED else "")
        elif report.phase == FAILED:
            failure = failure or wrong
        elif result.status == "success" and report.phase in (SYNCED, IDLE):
            done.add(i)
    if engine == JUICEFS and 0 in done:
        done |= {i for i, r in reports.items() if r.phase != FAILED}
    if failure:
        return tried_again(data, attempt, failure, frozenset(done), seen.now)
    return Copying(attempt, frozenset(done), before, tuple(untold))


def current(data: SampleSet, now: datetime) -> Attempt:
    """The attempt that is under way, or the first at the source as it is now."""
    known = data.status.jobs_name.sync_job_name if data.status.jobs_name else ""
    if known.startswith(stem(data)):
        return Attempt(known, data.status.last_sync_time)
    return Attempt(f"{stem(data)}0", now)


def tried_again(
    data: SampleSet, attempt: Attempt, failure: str, done: frozenset[int], now: datetime
) -> Copying:
    number = int(attempt.name.rpartition("-")[2])
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(number, 10))
    left = pause - (now - (attempt.since or now)).total_seconds()
    if left > 0:
        return Copying(attempt, done, failure, again=left)
    # Told to the runtimes at the next look, when it is known who answers.
    return Copying(Attempt(f"{stem(data)}{number + 1}", now), done, failure, again=0.0)


def stem(data: SampleSet) -> str:
    """How the ids of all attempts at this source begin."""
    said = json.dumps([data.uid, body_of(data)])
    return f"sync-{hashlib.sha256(said.encode()).hexdigest()[:12]}-"


def body_of(data: SampleSet) -> str:
    source = data.spec.source
    keys = named(source.secret_ref) if source else ""
    options = {"source": source.uri if source else "", **({"keys": keys} if keys else {})}
    return json.dumps(options, ensure_ascii=False)


def refused(call: HttpCall, seen: Snapshot) -> str:
    return seen.rebuffs.get(call, "")
