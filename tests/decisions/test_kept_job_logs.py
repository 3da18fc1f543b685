"""What is kept of the logs of a job's pods where the cluster keeps none, and how it is read again."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import NAMESPACE, NOW, a_job, deleted, named, pods_of, seen

from paddlecloud.api.core import ConfigMap, Pod
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.controllers.contract import KeptLogQuestion, Question
from paddlecloud.controllers.joblogs import (
    AT_ONCE,
    PATIENCE,
    SOURCE,
    kept_log,
    restored,
    without_content,
)
from paddlecloud.controllers.packing import KEPT_BYTES, LARGEST, end_of, packed, unpacked
from paddlecloud.controllers.paddlejob import asks, reconcile
from paddlecloud.controllers.startorder import START
from paddlecloud.sdk.loglines import Resumption, chosen, whole_lines

SAID = b"2024-06-01T11:59:58.000000001Z one\n2024-06-01T11:59:59.5Z two\n"
ENDED = {"phase": "Completed", "completionTime": NOW.isoformat()}


def that_ran(pod: Pod) -> Pod:
    states = [{"name": c["name"], "state": {"terminated": {"exitCode": 0}}} for c in pod.spec["containers"]]
    return pod.but(status={**pod.status, "containerStatuses": states})


def an_end(workers: int = 2, **spec: Any) -> tuple[PaddleJob, tuple[Pod, ...]]:
    job = a_job(worker=workers, status=ENDED, **spec)
    return job, tuple(that_ran(pod) for pod in pods_of(job, worker="Succeeded"))


def answered(pods: tuple[Pod, ...], *texts: bytes | None) -> dict[KeptLogQuestion, bytes | None]:
    return {
        KeptLogQuestion(NAMESPACE, p.name, "main"): t if t is None else t and packed(t)
        for p, t in zip(pods, texts, strict=True)
    }


def test_the_logs_of_pods_that_go_are_asked_for_and_only_those() -> None:
    job, pods = an_end()
    wanted = [KeptLogQuestion(NAMESPACE, f"wide-deep-worker-{n}", "main") for n in (0, 1)]

    assert list(asks(job, seen(job, *pods))) == wanted
    assert asks(job, replace(seen(job, *pods), logs_kept=True)) == ()
    stays, others = an_end(cleanPodPolicy="Never")
    assert asks(stays, seen(stays, *others)) == ()
    assert asks(job, seen(job, *pods_of(job, worker="Pending"))) == ()


def test_a_pod_goes_when_its_log_is_seen_to_be_written() -> None:
    job, pods = an_end()
    first = seen(job, *pods, answers=answered(pods, SAID, SAID))
    decision = reconcile(job, first)
    assert named(decision)[:2] == ["ConfigMap/wide-deep-worker-0-log", "ConfigMap/wide-deep-worker-1-log"]
    assert deleted(decision, first) == [] and decision.check_again

    logs = [child for child in decision.children if isinstance(child, ConfigMap)]
    then = seen(job, *pods, *(without_content(log) for log in logs))
    assert asks(job, then) == ()
    assert deleted(reconcile(job, then), then) == [pod.name for pod in pods]

    at_last = seen(job, *logs)
    assert deleted(reconcile(job, at_last), at_last) == [] and reconcile(job, at_last).check_again is None


@pytest.mark.parametrize(
    "text, since, goes",
    [
        (b"", 0, True),  # there is none to be had
        (None, 0, False),  # it cannot be read now
        (None, PATIENCE, True),  # nor will it ever be
    ],
)
def test_a_log_that_is_not_to_be_had_holds_nobody_up_for_ever(
    text: bytes | None, since: float, goes: bool
) -> None:
    job, pods = an_end(workers=1)
    snapshot = seen(job, *pods, answers=answered(pods, text), now=NOW + timedelta(seconds=since))
    decision = reconcile(job, snapshot)

    assert bool(deleted(decision, snapshot)) is goes
    assert named(decision) == ([] if goes else ["Pod/wide-deep-worker-0"])


def test_where_the_cluster_keeps_logs_pods_go_at_once() -> None:
    job, pods = an_end()
    snapshot = replace(seen(job, *pods), logs_kept=True)

    assert deleted(reconcile(job, snapshot), snapshot) == [pod.name for pod in pods]


def test_many_pods_go_some_at_a_time() -> None:
    job, pods = an_end(workers=3 * AT_ONCE)
    snapshot = seen(job, *pods)
    asked = asks(job, snapshot)
    assert len(asked) == AT_ONCE

    decision = reconcile(job, replace(snapshot, answers={question: packed(SAID) for question in asked}))
    assert len([child for child in decision.children if isinstance(child, ConfigMap)]) == AT_ONCE
    assert not deleted(decision, snapshot)


def test_a_job_that_rests_and_goes_on_keeps_what_was_said_before() -> None:
    job = a_job(worker=1, suspend=True)
    [pod] = (that_ran(pod) for pod in pods_of(job, worker="Running"))
    first = seen(job, pod, answers=answered((pod,), SAID))
    assert asks(job, first) and deleted(reconcile(job, first), first) == []
    [log] = [child for child in reconcile(job, first).children if isinstance(child, ConfigMap)]

    then = seen(job, pod, log)
    assert deleted(reconcile(job, then), then) == [pod.name]
    going_on = a_job(worker=1)
    assert deleted(reconcile(going_on, seen(going_on, log)), seen(going_on, log)) == []


@pytest.mark.parametrize("text, stays", [(SAID, True), (b"", False), (None, False)])
def test_a_pod_that_is_replaced_leaves_its_log_and_is_not_waited_for(text: bytes | None, stays: bool) -> None:
    job = a_job(worker=2, status={"phase": "Running", "attempt": 1})
    [failed, other] = (that_ran(pod) for pod in pods_of(job, worker=["Failed", "Running"]))
    failed = failed.but(metadata=failed.metadata.but(annotations={START: "0"}))
    snapshot = seen(job, failed, other)
    [question] = [q for q in asks(job, snapshot) if isinstance(q, KeptLogQuestion)]
    assert question.pod == failed.name

    answers: dict[Question, Any] = {question: text and packed(text)}
    decision = reconcile(job, replace(snapshot, answers=answers))
    assert (failed.name in deleted(decision, snapshot)) is not stays
    assert (f"ConfigMap/{failed.name}-log" in named(decision)) is stays


def test_what_is_kept_is_read_again_with_its_pod() -> None:
    _, pods = an_end(workers=1)
    log = kept_log(pods[0], {"main": packed(SAID), "side": packed(b"t beside\n")})

    assert log.metadata.annotations[SOURCE] == pods[0].uid
    assert restored(log) == SAID.splitlines()
    assert restored(log, "side") == [b"t beside"] and restored(log, "other") == []
    assert restored(without_content(log)) == []


def test_what_does_not_fit_is_left_out_not_refused() -> None:
    _, pods = an_end(workers=1)
    log = kept_log(pods[0], {"main": b"x" * LARGEST, "side": b"y"})

    assert list(log.binary_data) == ["main.gz"]
    broken = log.but(binary_data={"main.gz": base64.b64encode(b"no archive").decode()})
    assert restored(broken) == [] and restored(log.but(binary_data={"main.gz": "="})) == []


@pytest.mark.parametrize("size", [0, 10, KEPT_BYTES, KEPT_BYTES + 1, 3 * KEPT_BYTES])
def test_the_end_of_a_log_comes_back_from_the_beginning_of_a_line(size: int) -> None:
    content = b"".join(b"line %d\n" % n for n in range(size // 7))
    back = unpacked(packed(content))

    assert content.endswith(back) and len(back) >= min(len(content), KEPT_BYTES - 100)
    assert back == content or back.startswith(b"line ")


def test_a_log_that_cannot_be_compressed_is_cut_until_it_fits() -> None:
    state, noise = 1, bytearray()
    while len(noise) < KEPT_BYTES:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        noise += b"%016x%s\n" % (state, bytes(state >> shift & 0xFF for shift in (8, 24, 40)))
    small = packed(bytes(noise), room=50_000)

    assert len(small) <= 50_000 and len(unpacked(small)) > 50_000 and noise.endswith(unpacked(small))


def test_one_endless_line_is_kept_as_far_as_it_goes() -> None:
    assert end_of(b"x" * 10, 4) == b"xxxx" and end_of(b"a\nbcd", 4) == b"bcd"


STAMPED = [
    b"2024-06-01T11:59:58.000000001Z one",
    b"2024-06-01T19:59:59.500000000+08:00 two",
    b"2024-06-01T12:00:00Z three",
]


@pytest.mark.parametrize(
    "query, words",
    [
        ({}, ["one", "two", "three"]),
        ({"tailLines": "2"}, ["two", "three"]),
        ({"tailLines": "0"}, []),
        ({"sinceSeconds": "1"}, ["two", "three"]),
        ({"sinceTime": "2024-06-01T14:00:00+02:00"}, ["three"]),
        ({"sinceTime": "2024-06-01T11:59:58Z", "tailLines": "1"}, ["three"]),
        ({"tailLines": "1", "timestamps": "true"}, ["2024-06-01T12:00:00Z three"]),
    ],
)
def test_a_kept_log_is_chosen_from_like_a_living_one(query: dict[str, str], words: list[str]) -> None:
    now = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)

    assert [line.decode() for line in chosen(STAMPED, query, now)] == words


@pytest.mark.parametrize(
    "pieces, lines",
    [([], []), ([b"a\nb"], [b"a", b"b"]), ([b"a", b"b\n", b"\nc\n"], [b"ab", b"", b"c"])],
)
def test_pieces_become_lines(pieces: list[bytes], lines: list[bytes]) -> None:
    assert list(whole_lines(pieces)) == lines


@pytest.mark.parametrize("cut", range(6))
def test_who_was_cut_off_goes_on_without_a_hole_or_a_copy(cut: int) -> None:
    stamps = ["58.1", "58.2", "58.2", "58.2", "59.0", "59.9"]
    log = [f"2024-06-01T11:59:{stamp}Z {n}".encode() for n, stamp in enumerate(stamps)]
    known = Resumption()
    assert known.since == ""

    told = list(known.fresh(log[:cut]))
    again = [line for line in log if line.decode()[:19] >= known.since[:19]]

    assert told + list(known.fresh(again)) == log
