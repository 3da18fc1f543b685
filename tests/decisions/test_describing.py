"""What `pdc describe` says of an object, what a live bar says, and the ways out that `pdc why` knows."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from tests.decisions.builders import a_job, a_pod, metadata

from paddlecloud.api.core import Event
from paddlecloud.api.meta import Progress
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.cli.data import trouble
from paddlecloud.cli.describing import described
from paddlecloud.cli.live import Live, words
from paddlecloud.cli.why import Facts, chain
from paddlecloud.sdk.waiting import state_of

FAILED = {"type": "Failed", "status": "True", "reason": "PodFailed", "message": "pod p failed\nlast words"}


def an_event(reason: str, second: int, version: int, **more: Any) -> Event:
    stamp = f"2024-06-01T12:00:{second:02}Z"
    return Event.read({"metadata": metadata(reason, resourceVersion=str(version)), "reason": reason,
                       "message": f"{reason} it is\nand more", "lastTimestamp": stamp, **more})  # fmt: skip


def test_a_job_is_described_with_its_progress_its_pods_and_its_events_in_order() -> None:
    told = {
        "phase": "Failed", "mode": "PS", "restarts": 2, "ps": {"ready": "1/1", "running": 1},
        "worker": {"ready": "0/2", "failed": 1, "succeeded": 1},
        "progress": {"done": 5, "total": 10, "unit": "steps", "metrics": {"loss": 0.5}},
        "conditions": [FAILED, {**FAILED, "type": "Progressing", "status": "False"}],
    }  # fmt: skip
    body = a_job(ps=1, worker=2, status=told).wire()
    body["metadata"]["labels"] = {"team": "vision"}
    events = [an_event("Late", 9, 1), an_event("Second", 3, 12, count=4), an_event("First", 3, 11)]
    lines = list(described(body, [a_pod("p-1"), a_pod("p-0", "Failed")], events))
    text = "\n".join(lines)

    for expected in (
        "Name:         wide-deep", "Labels:       team=vision", "Status:       Failed", "Mode:         PS",
        "Restarts:     2", "Progress:     5/10 steps  loss 0.5000", "PS:           1/1  1 running",
        "Worker:       0/2  1 succeeded, 1 failed", "  main: example/paddle:1",
    ):  # fmt: skip
        assert expected in lines
    assert text.count("last words") == 1, "the same is not said twice"
    assert text.index("p-0") < text.index("p-1")
    assert text.index("First it is") < text.index("Second it is") < text.index("Late it is")
    assert "x4" in text and "and more" not in text


def test_a_secret_is_not_shown() -> None:
    body = {"kind": "Secret", "metadata": metadata("s"), "data": {"key": "aGlkZGVu"}}
    text = "\n".join(described(body, [], []))

    assert "key: 8 characters" in text and "aGlkZGVu" not in text


def test_other_kinds_are_told_by_their_fields() -> None:
    body = {"kind": "ConfigMap", "metadata": metadata("c"), "data": {"a.py": "one\ntwo\n"}, "spec": {"x": 1}}
    lines = list(described(body, [], []))

    assert lines[-5:] == ["Data a.py:", "  one", "  two", "Spec:", "  x: 1"]


@pytest.mark.parametrize(
    "progress, text",
    [
        (Progress(), "0"),
        (Progress(done=3, unit="steps", metrics={"lr": 1, "LOSS": 0.5}), "3 steps  LOSS 0.5000"),
        (
            Progress(done=165, total=625, unit="steps", message="epoch 2 of 5", rate=3.2, eta_seconds=143.75,
                     metrics={"accuracy": 0.88, "loss": 0.43, "auc": 0.5}),
            "epoch 2 of 5  165/625 steps  loss 0.4300  accuracy 0.8800  3.2 steps/s  ETA 0:02:24",
        ),
        (Progress(done=5, total=5, unit="epochs", eta_seconds=0), "5/5 epochs"),
    ],
)  # fmt: skip
def test_progress_in_words(progress: Progress, text: str) -> None:
    assert words(progress) == text


def test_a_live_bar_knows_the_speed_from_the_first_line_on() -> None:
    ticks = count(0, 10)
    live = Live(lambda: float(next(ticks)))
    told = [live.feed(line) for line in ("loading", "step 100/200", "noise", "step 120/200", "step 150/200")]

    assert [t and (t.done, t.rate, t.eta_seconds) for t in told] == [
        None, (100, 0, None), None, (120, 2, 40), (150, 2.5, 20),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "message, way",
    [
        ("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", "--pretend-gpus"),
        ("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.", "--node-label"),
        ("0/1 nodes are available: 1 Insufficient cpu.", None),
    ],
)
def test_why_names_the_ways_out_where_there_are_some(message: str, way: str | None) -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": message}
    body = {
        "kind": "Pod",
        "metadata": metadata("p"),
        "status": {"phase": "Pending", "conditions": [unscheduled]},
    }
    told = "\n".join(chain(body, Facts({})))

    assert message in told and (way in told if way else "→" not in told)


def test_why_tells_how_far_a_job_is_that_is_well() -> None:
    job = a_job(worker=1, status={"phase": "Running", "progress": {"done": 1, "total": 2, "unit": "epochs"}})

    assert chain({**job.wire(), "kind": "PaddleJob"}, Facts({})) == [
        "paddlejob/wide-deep: Running", "   1/2 epochs",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "told, said",
    [
        (
            Progress(done=1 << 30, total=3 << 30, unit="bytes", rate=5.0 * (1 << 20)),
            "1.0 GiB of 3.0 GiB  5.0 MiB/s",
        ),
        (Progress(done=200, unit="bytes", message="2 of 9 files"), "2 of 9 files  200 B"),
        (Progress(done=165, total=625, unit="steps", rate=3.2), "165/625 steps  3.2 steps/s"),
    ],
)
def test_bytes_are_told_as_people_read_them(told: Progress, said: str) -> None:
    assert words(told) == said


def test_a_reason_that_is_the_phase_is_told_once() -> None:
    failed = a_set("SyncFailed", {"type": "Ready", "reason": "SyncFailed", "message": "no such host"})
    waiting = a_set("Mount", {"type": "Progressing", "reason": "WaitingForSecret", "message": "create it"})
    assert state_of(failed) == "SyncFailed: no such host"
    assert state_of(waiting) == "Mount, WaitingForSecret: create it"
    assert (trouble(failed), trouble(waiting)) == ("no such host", "create it")


def test_waiting_for_ones_turn_is_no_trouble() -> None:
    waits = {"type": "Progressing", "reason": "WaitingForVolume", "message": "claim it waits for a volume"}
    assert trouble(a_set("", waits)) == ""


def a_set(phase: str, condition: dict[str, str]) -> SampleSet:
    status = {"phase": phase, "conditions": [{"status": "False", **condition}]}
    return SampleSet.read({"metadata": {"name": "it"}, "spec": {}, "status": status})
