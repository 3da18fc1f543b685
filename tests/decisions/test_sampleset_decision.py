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
    a_runtime_reports,
    condition_of,
    deleted,
    named,
    seen,
    the_runtimes,
    with_stored,
)

from paddlecloud.api.core import StatefulSet
from paddlecloud.api.sampleset import SampleSet, SampleSetStatus
from paddlecloud.controllers.contract import Decision, HttpQuestion, plan
from paddlecloud.controllers.dataruntimes import make_runtime
from paddlecloud.controllers.sampleset import questions, reconcile
from paddlecloud.controllers.statuses import status_patch

VOLUME, CLAIM = "PersistentVolume/ml-digits", "PersistentVolumeClaim/digits"
SERVICE, RUNTIME = "Service/digits-runtime-service", "StatefulSet/digits-runtime"
SYNCED = {
    "phase": "Synced",
    "totalSize": 4096,
    "totalFiles": 1200,
    "cachedSize": 9999,
    "revision": "sha256:1",
}


def made(data: SampleSet) -> StatefulSet:
    return make_runtime(data, "local", ())


def status_of(decision: Decision) -> SampleSetStatus:
    assert isinstance(decision.status, SampleSetStatus)
    return decision.status


def look(data: Any, *pods: Any, claim: Any = None, answers: Any = None, now: Any = NOW) -> Decision:
    return reconcile(
        data, seen(data, claim or a_claim(), the_runtimes(), related=pods, answers=answers, now=now)
    )


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
    said = a_runtime_reports(0, **answers) if answers else {}

    assert status_of(look(a_data_set(), a_runtime(), answers=said)).phase == phase


@pytest.mark.parametrize(
    "claim, pods, phase, reason, wanted",
    [
        (None, [], "", "WaitingForVolume", [VOLUME]),
        (a_claim(phase="Pending"), [], "", "WaitingForVolume", [VOLUME, CLAIM]),
        (a_claim(), [], "Bound", "WaitingForRuntime", [VOLUME, CLAIM, SERVICE, RUNTIME]),
        (
            a_claim(),
            [a_runtime(phase="Pending")],
            "Mount",
            "WaitingForRuntime",
            [VOLUME, CLAIM, SERVICE, RUNTIME],
        ),
    ],
)
def test_before_the_runtime_answers(
    claim: Any, pods: list[Any], phase: str, reason: str, wanted: list[str]
) -> None:
    data = a_data_set()
    there = [c for c in (claim, the_runtimes() if pods else None) if c]
    decision = reconcile(data, seen(data, *there, related=pods))

    assert status_of(decision).phase == phase
    assert condition_of(decision, "Progressing").reason == reason
    assert named(decision) == wanted


@pytest.mark.parametrize(
    "spec, said",
    [
        ({"source": {"uri": "gopher://bucket/prefix"}}, "source gopher: is of no kind that is known"),
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
    synced = look(known, a_runtime(), answers=a_runtime_reports(0, **SYNCED))
    assert status_of(synced).phase == "Ready"


def test_ready_shows_sizes_and_what_the_data_is() -> None:
    decision = look(a_data_set(), a_runtime(), answers=a_runtime_reports(0, **SYNCED))
    status = status_of(decision)

    assert status.cache_status is not None
    assert (status.cache_status.total_size, status.cache_status.total_files) == ("4.0 KiB", "1,200")
    assert status.cache_status.cached_size == "4.0 KiB"  # never more than there is
    assert status.revision == "sha256:1"
    assert [n.reason for n in decision.notes] == ["Ready"]


def test_every_partition_must_be_ready() -> None:
    data, answers = a_data_set(partitions=2), a_runtime_reports(0, **SYNCED)

    assert status_of(look(data, a_runtime(0), answers=answers)).phase == "PartialReady"
    both = answers | a_runtime_reports(1, **SYNCED)
    assert status_of(look(data, a_runtime(0), a_runtime(1), answers=both)).phase == "Ready"
    one_failed = answers | a_runtime_reports(1, phase="Failed", message="disk full")
    failed = look(data, a_runtime(0), a_runtime(1), answers=one_failed)
    assert condition_of(failed, "Ready").message == "disk full"


@pytest.mark.parametrize(
    "ready, answers, told",
    [(False, {}, "0/1"), (False, a_runtime_reports(0, **SYNCED), "1/1"), (True, {}, "1/1")],
)
def test_a_runtime_that_answers_is_at_work_even_if_its_node_has_not_asked_it_yet(
    ready: bool, answers: Any, told: str
) -> None:
    seen = status_of(look(a_data_set(), a_runtime(ready=ready), answers=answers))
    assert seen.runtime_status is not None and seen.runtime_status.runtime_ready == told


def test_one_missing_answer_takes_nothing_away_from_verified_data_but_a_missing_runtime_does() -> None:
    ready = with_stored(a_data_set(), look(a_data_set(), a_runtime(), answers=a_runtime_reports(0, **SYNCED)))
    silent = status_of(look(ready, a_runtime()))
    assert (silent.phase, silent.revision, silent.cache_status) == (
        "Ready", "sha256:1", ready.status.cache_status,
    )  # fmt: skip
    later = status_of(look(ready, a_runtime(phase="Pending")))
    assert (later.phase, later.revision) == ("PartialReady", "sha256:1")
    assert later.runtime_status is not None and later.runtime_status.runtime_ready == "0/1"


@pytest.mark.parametrize(
    "nonsense",
    ["text", ["list"], 7, None, {"totalSize": "many"}, {"progress": {"done": "x"}}, {"phase": []}],
)
def test_what_no_runtime_would_say_is_not_believed(nonsense: Any) -> None:
    question = next(iter(a_runtime_reports()))

    assert status_of(look(a_data_set(), a_runtime(), answers={question: nonsense})).phase == "Mount"


def test_a_sync_that_stands_still_costs_no_write() -> None:
    def syncing(done: int, rate: int) -> dict[HttpQuestion, Any]:
        progress = {"done": done, "total": 9, "unit": "bytes", "rate": rate}
        return a_runtime_reports(0, phase="Syncing", progress=progress)

    stored = with_stored(a_data_set(), look(a_data_set(), a_runtime(), answers=syncing(5, 2)))
    later = look(stored, a_runtime(), answers=syncing(5, 1), now=NOW + timedelta(seconds=1))
    assert status_patch(stored, status_of(later)) == {}

    on = look(stored, a_runtime(), answers=syncing(6, 1))
    assert "progress" in status_patch(stored, status_of(on))


def test_the_claim_stays_whatever_happens() -> None:
    data, claim = a_data_set(csi={"driver": "juicefs"}), a_claim()

    assert deleted(look(data, claim=claim), seen(data, claim)) == []


def test_only_runtimes_that_run_are_asked() -> None:
    pods = [a_runtime(1), a_runtime(0), a_runtime(2, "Pending")]

    found = questions(a_data_set(partitions=3), seen(None, the_runtimes(), related=pods))
    asked = [q.url for q in found if isinstance(q, HttpQuestion)]
    assert asked == [f"http://127.64.7.{n}:7716/cacheStatus/cacheInfo.json" for n in (1, 2)]


def test_a_local_source_is_mounted_at_its_own_path() -> None:
    spec = made(a_data_set(source={"uri": "file:///my%20data"})).spec["template"]["spec"]

    assert {"name": "source", "hostPath": {"path": "/my data", "type": "Directory"}} in spec["volumes"]
    assert {"name": "source", "mountPath": "/my data"} in spec["containers"][0]["volumeMounts"]


def test_a_claim_is_mounted_to_be_read_and_the_runtime_is_told_where() -> None:
    spec = made(a_data_set(source={"uri": "pvc://words-task-center/samples"})).spec["template"]["spec"]

    claim = {"claimName": "words-task-center", "readOnly": True}
    assert {"name": "source", "persistentVolumeClaim": claim} in spec["volumes"]
    [container] = spec["containers"]
    [mount] = [m for m in container["volumeMounts"] if m["name"] == "source"]
    assert mount["readOnly"] and {"name": "SOURCE_CLAIM", "value": mount["mountPath"]} in container["env"]


def test_more_partitions_change_the_runtime_in_place() -> None:
    before, after = a_data_set(), a_data_set(partitions=3)
    [update] = plan([made(before)], Decision(None, (made(after),))).update

    assert isinstance(update.observed, StatefulSet) and update.patch == {"spec": {"replicas": 3}}
