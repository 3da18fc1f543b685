"""Conditions keep the time of their last change; progress is read from what a training prints."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tests.decisions.builders import NOW

from paddlecloud.api.meta import Condition, Progress
from paddlecloud.controllers.conditions import condition, progressing, set_conditions, waiting
from paddlecloud.controllers.progress import KEEP_WRITING_EVERY, read_line, read_log, worth_writing

EARLIER = NOW - timedelta(hours=1)


def at(told: Condition, when: datetime = EARLIER) -> Condition:
    return told.but(last_transition_time=when)


@pytest.mark.parametrize(
    "old, new, since",
    [
        ([], condition("Ready", True, "Fine"), NOW),
        ([at(condition("Ready", True, "Fine"))], condition("Ready", True, "Better", "more"), EARLIER),
        ([at(condition("Ready", False, "No"))], condition("Ready", True, "Fine"), NOW),
        ([at(condition("Ready", None, "Who knows"))], condition("Ready", False, "No"), NOW),
        ([at(condition("Other", True, "Fine"))], condition("Ready", True, "Fine"), NOW),
        ([condition("Ready", True, "Fine")], condition("Ready", True, "Fine"), NOW),
    ],
)
def test_a_condition_keeps_its_time_while_its_status_stays(
    old: list[Condition], new: Condition, since: datetime
) -> None:
    assert set_conditions(old, [new], NOW) == [at(new, since)]


def test_a_wait_is_work_that_does_not_go_on() -> None:
    assert (waiting("NoDisk", "x").type, waiting("NoDisk", "x").status) == ("Progressing", "False")
    assert (progressing().type, progressing().status) == ("Progressing", "True")


@pytest.mark.parametrize(
    "line, done, total, metrics",
    [
        ("epoch 2/5 step 40/125 loss 0.43", 165, 625, {"loss": 0.43, "epoch": 2}),
        ("epoch: [2/5], n_step: 40, loss: 0.43", 2, 5, {"n_step": 40, "loss": 0.43, "epoch": 2}),
        ("[Train] epoch 3/10, iter 2/10, lr=1e-3 acc: 0.9", 22, 100, {"lr": 1e-3, "acc": 0.9, "epoch": 3}),
        ("step 7 of 9", 7, 9, {}),
        ("Epoch 1/3", 1, 3, {"epoch": 1}),
        ("batch 1/2 loss -0.5 top1/acc 0.25", 1, 2, {"loss": -0.5, "top1/acc": 0.25}),
        ("step 1/2 loss 1e999", 1, 2, {}),
    ],
)  # fmt: skip
def test_a_line_tells_how_far_it_is(line: str, done: float, total: float, metrics: dict[str, float]) -> None:
    told = read_line(line)

    assert told is not None
    assert (told.done, told.total, told.metrics) == (done, total, metrics)


@pytest.mark.parametrize(
    "line", ["", "loading data", "loss 0.4", "step by step", "epoch one", "stepping 3/4"]
)
def test_other_lines_tell_nothing(line: str) -> None:
    assert read_line(line) is None


def test_the_newest_line_counts_with_the_rate_since_the_start() -> None:
    told = read_log("step 1/10 loss 3\nnoise\nstep 4/10 loss 2", None, NOW - timedelta(seconds=8), NOW)

    assert told is not None and told.updated_at == NOW
    assert (told.done, told.rate, told.eta_seconds, told.metrics) == (4, 0.5, 12.0, {"loss": 2})


def test_a_verdict_overrides_the_metrics_of_the_last_step() -> None:
    told = read_log("step 9/10 accuracy 0.5\nstep 10/10 accuracy 0.6\ntest accuracy 0.98", None, None, NOW)

    assert told is not None and told.metrics == {"accuracy": 0.98} and told.rate == 0


@pytest.mark.parametrize("text", ["", "nothing to see", "Traceback (most recent call last):"])
def test_a_silent_log_changes_nothing(text: str) -> None:
    before = Progress(done=1, total=2)

    assert read_log(text, before, None, NOW) is before
    assert read_log(text, None, None, NOW) is None


@pytest.mark.parametrize(
    "old, new, worth",
    [
        (None, None, False),
        (None, Progress(done=1), True),
        (Progress(done=1, rate=2), Progress(done=1, rate=3), False),
        (Progress(done=1, updated_at=NOW - timedelta(seconds=5)), Progress(done=2), False),
        (Progress(done=1, updated_at=NOW - timedelta(seconds=KEEP_WRITING_EVERY)), Progress(done=2), True),
        (Progress(done=1), Progress(done=2), True),
        (Progress(done=1, updated_at=EARLIER), Progress(done=1, metrics={"loss": 1}), True),
    ],
)
def test_progress_alone_is_written_now_and_then(
    old: Progress | None, new: Progress | None, worth: bool
) -> None:
    assert worth_writing(old, new, NOW) is worth
