"""SampleSet: from a claim to data that was verified; the runtime tells, the decision believes only that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_claim,
    a_data_set,
    a_runtime,
    a_runtime_says,
    condition_of,
    deleted,
    named,
    seen,
    with_stored,
)

from paddlecloud.api.core import StatefulSet
from paddlecloud.api.sampleset import SampleSetStatus
from paddlecloud.controllers.contract import Decision, plan
from paddlecloud.controllers.sampleset import make_runtime, questions, reconcile
from paddlecloud.controllers.statuses import status_patch

CLAIM, RUNTIME = "PersistentVolumeClaim/digits", "StatefulSet/digits-runtime"
SYNCED = {
    "phase": "Synced",
    "totalBytes": 4096,
    "totalFiles": 1200,
    "cachedBytes": 9999,
    "revision": "sha256:1",
}


def status_of(decision: Decision) -> SampleSetStatus:
    assert isinstance(decision.status, SampleSetStatus)
    return decision.status


def look(data: Any, *pods: Any, claim: Any = None, answers: Any = None, now: Any = NOW) -> Decision:
    return reconcile(data, seen(data, claim or a_claim(), related=pods, answers=answers, now=now))


@pytest.mark.parametrize(
    "answers, phase",
    [
        ({}, "Mount"),
        ({"phase": "Syncing", "message": "1 of 2"}, "Syncing"),
        ({"phase": "Failed", "message": "gone"}, "SyncFailed"),
        (SYNCED, "Ready"),
        ({"phase": "Something new"}, "Syncing"),
    ],
)
def test_the_phase_is_what_the_runtime_tells(answers: dict[str, Any], phase: str) -> None:
    said = a_runtime_says(0, **answers) if answers else {}

    assert status_of(look(a_data_set(), a_runtime(), answers=said)).phase == phase


@pytest.mark.parametrize(
    "claim, pods, phase, reason, wanted",
    [
        (None, [], "", "WaitingForVolume", [CLAIM]),
        (a_claim(phase="Pending"), [], "", "WaitingForVolume", [CLAIM]),
        (a_claim(), [], "Bound", "WaitingForRuntime", [CLAIM, RUNTIME]),
        (a_claim(), [a_runtime(phase="Pending")], "Mount", "WaitingForRuntime", [CLAIM, RUNTIME]),
    ],
)
def test_before_the_runtime_answers(
    claim: Any, pods: list[Any], phase: str, reason: str, wanted: list[str]
) -> None:
    data = a_data_set()
    decision = reconcile(data, seen(data, *([claim] if claim else []), related=pods))

    assert status_of(decision).phase == phase
    assert condition_of(decision, "Progressing").reason == reason
    assert named(decision) == wanted


@pytest.mark.parametrize(
    "spec, said",
    [
        ({"csi": {"driver": "juicefs"}}, "juicefs is not available"),
        ({"source": {"uri": "s3://bucket/prefix"}}, "s3:// is not supported"),
        ({"source": None}, "spec.source.uri is missing"),
    ],
)
def test_what_the_engine_cannot_do_is_said(spec: dict[str, Any], said: str) -> None:
    decision = look(a_data_set(**spec))

    assert status_of(decision).phase == "SyncFailed"
    assert said in condition_of(decision, "Ready").message


def test_a_source_that_is_missing_is_told_once_and_until_it_is_there() -> None:
    said = (
        'MountVolume.SetUp failed for volume "source" : hostPath type check failed: /raw is not a directory'
    )
    waits = {"waiting": {"reason": "ContainerCreating", "message": said}}
    pod = a_runtime(phase="Pending")
    missing = pod.but(status={**pod.status, "containerStatuses": [{"name": "runtime", "state": waits}]})
    data = a_data_set()
    decision = look(data, missing)

    assert status_of(decision).phase == "SyncFailed"
    assert condition_of(decision, "Ready").reason == "SourceMissing"
    [note] = decision.notes
    assert (note.type, note.reason) == ("Warning", "SyncFailed")
    assert data.spec.source is not None and f"the source {data.spec.source.uri} is missing" in note.message
    known = with_stored(data, decision)
    assert not look(known, missing).notes
    assert status_of(look(known, pod)).phase == "Mount"
    synced = look(known, a_runtime(), answers=a_runtime_says(0, **SYNCED))
    assert status_of(synced).phase == "Ready"


def test_ready_shows_sizes_and_what_the_data_is() -> None:
    decision = look(a_data_set(), a_runtime(), answers=a_runtime_says(0, **SYNCED))
    status = status_of(decision)

    assert status.cache_status is not None
    assert (status.cache_status.total_size, status.cache_status.total_files) == ("4.0 KiB", "1,200")
    assert status.cache_status.cached_size == "4.0 KiB"  # never more than there is
    assert status.revision == "sha256:1"
    assert [n.reason for n in decision.notes] == ["Ready"]


def test_every_partition_must_be_ready() -> None:
    data, answers = a_data_set(partitions=2), a_runtime_says(0, **SYNCED)

    assert status_of(look(data, a_runtime(0), answers=answers)).phase == "PartialReady"
    both = answers | a_runtime_says(1, **SYNCED)
    assert status_of(look(data, a_runtime(0), a_runtime(1), answers=both)).phase == "Ready"
    one_failed = answers | a_runtime_says(1, phase="Failed", message="disk full")
    failed = look(data, a_runtime(0), a_runtime(1), answers=one_failed)
    assert condition_of(failed, "Ready").message == "disk full"


def test_a_runtime_that_restarts_takes_nothing_away_from_verified_data() -> None:
    ready = with_stored(a_data_set(), look(a_data_set(), a_runtime(), answers=a_runtime_says(0, **SYNCED)))
    later = status_of(look(ready, a_runtime(phase="Pending")))

    assert (later.phase, later.revision, later.cache_status) == (
        "Ready", "sha256:1", ready.status.cache_status,
    )  # fmt: skip
    assert later.runtime_status is not None and later.runtime_status.runtime_ready == "0/1"


@pytest.mark.parametrize(
    "nonsense",
    ["text", ["list"], 7, None, {"totalBytes": "many"}, {"progress": {"done": "x"}}, {"phase": []}],
)
def test_what_no_runtime_would_say_is_not_believed(nonsense: Any) -> None:
    question = next(iter(a_runtime_says()))

    assert status_of(look(a_data_set(), a_runtime(), answers={question: nonsense})).phase == "Mount"


def test_a_sync_that_stands_still_costs_no_write() -> None:
    answers = a_runtime_says(0, phase="Syncing", progress={"done": 5, "total": 9, "unit": "bytes", "rate": 2})
    stored = with_stored(a_data_set(), look(a_data_set(), a_runtime(), answers=answers))
    slower = a_runtime_says(0, phase="Syncing", progress={"done": 5, "total": 9, "unit": "bytes", "rate": 1})
    later = look(stored, a_runtime(), answers=slower, now=NOW + timedelta(seconds=1))
    assert status_patch(stored, status_of(later)) == {}

    on = a_runtime_says(0, phase="Syncing", progress={"done": 6, "total": 9, "unit": "bytes", "rate": 1})
    assert "progress" in status_patch(stored, status_of(look(stored, a_runtime(), answers=on)))


def test_the_claim_stays_whatever_happens() -> None:
    data, claim = a_data_set(csi={"driver": "juicefs"}), a_claim()

    assert deleted(look(data, claim=claim), seen(data, claim)) == []


def test_only_runtimes_that_run_are_asked() -> None:
    pods = [a_runtime(1), a_runtime(0), a_runtime(2, "Pending")]

    asked = [getattr(q, "url", "") for q in questions(a_data_set(), seen(related=pods))]
    assert asked == ["http://127.64.7.1:7716/status", "http://127.64.7.2:7716/status"]


@pytest.mark.parametrize(
    "spec, arguments",
    [
        ({}, ["--uri", "file:///data/digits"]),
        ({"source": {"uri": "file:///my%20data"}}, ["--uri", "file:///my%20data"]),
        ({"source": None, "noSync": True}, ["--no-sync"]),
    ],
)
def test_the_runtime_is_told_where_the_data_is(spec: dict[str, Any], arguments: list[str]) -> None:
    [container] = make_runtime(a_data_set(**spec)).spec["template"]["spec"]["containers"]

    assert container["command"][-len(arguments) :] == arguments


def test_a_local_source_is_mounted_at_its_own_path() -> None:
    spec = make_runtime(a_data_set(source={"uri": "file:///my%20data"})).spec["template"]["spec"]

    assert {"name": "source", "hostPath": {"path": "/my data", "type": "Directory"}} in spec["volumes"]
    assert {"name": "source", "mountPath": "/my data"} in spec["containers"][0]["volumeMounts"]


def test_more_partitions_change_the_runtime_in_place() -> None:
    before, after = a_data_set(), a_data_set(partitions=3)
    [update] = plan([make_runtime(before)], Decision(None, (make_runtime(after),))).update

    assert isinstance(update.observed, StatefulSet) and update.patch == {"spec": {"replicas": 3}}
