"""Progress from what a training wrote down with VisualDL, alone and together with what it printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NAMESPACE, NOW, a_job, log_of, seen

from paddlecloud.api.meta import Progress
from paddlecloud.api.paddlejob import PaddleJobStatus
from paddlecloud.controllers.contract import Question, Recorded, RecordsQuestion
from paddlecloud.controllers.paddlejob import asks, reconcile
from paddlecloud.controllers.recorded import ALONE, METRICS, metrics_of, read_both, step_of, wants_records
from paddlecloud.controllers.trainlines import MOST_METRICS

START = NOW - timedelta(seconds=8)
LOSS = Recorded("train/loss", 40, 0.25)


def told(*tags: str) -> list[Recorded]:
    """Numbers under the tags: 1, 2, 3, …, at steps 10, 20, 30, …"""
    return [Recorded(tag, 10 * n, float(n)) for n, tag in enumerate(tags, 1)]


@pytest.mark.parametrize(
    "tags, metrics",
    [
        (["train/loss"], {"loss": 1}),
        (["TRAIN/loss", "TRAIN/lr"], {"loss": 1, "lr": 2}),
        (["loss"], {"loss": 1}),
        (["train_loss", "eval_top1"], {"loss": 1, "top1": 2}),
        (["eval/acc"], {"acc": 1}),
        (["Evaluate/mIoU", "Train/loss"], {"mIoU": 1, "loss": 2}),
        (["train/loss", "eval/loss"], {"loss": 1, "eval/loss": 2}),
        (["EVAL/loss", "loss"], {"EVAL/loss": 1, "loss": 2}),
        (["Train/epoch", "Train/loss"], {"epoch": 1, "loss": 2}),
        (["Epoch"], {"epoch": 1}),
        (["train/global_step", "train/loss", "max_steps"], {"loss": 2}),
        (["train/head/loss"], {"head/loss": 1}),
        (["trained"], {"trained": 1}),
        (["test"], {"test": 1}),
    ],
)
def test_tags_become_metrics(tags: list[str], metrics: dict[str, float]) -> None:
    assert metrics_of(told(*tags)) == metrics


def test_a_metric_has_as_many_digits_as_it_was_written_with_and_is_a_number() -> None:
    found = metrics_of([Recorded("loss", 1, 0.20000000298023224), Recorded("acc", 1, None)])

    assert found == {"loss": 0.2}


def test_of_many_metrics_the_simple_ones_are_told() -> None:
    found = metrics_of(told(*(f"a/layer{n}/weight" for n in range(50)), "train/loss"))

    assert len(found) == MOST_METRICS and next(iter(found)) == "loss"


@pytest.mark.parametrize(
    "tags, step",
    [
        (["train/loss"], 10),
        (["train/loss", "train/lr"], 20),
        (["train/loss", "eval/acc"], 10),
        (["eval/acc", "val_loss"], 20),
        (["loss", "test/acc"], 10),
    ],
)
def test_steps_are_those_of_the_training(tags: list[str], step: int) -> None:
    assert step_of(told(*tags)) == step


def test_a_step_before_the_first_is_none() -> None:
    assert step_of([Recorded("loss", -1, 1.0)]) == 0


@pytest.mark.parametrize(
    "text, records, before, done, total, metrics, message",
    [
        ("", [LOSS], None, 40, 0, {"loss": 0.25}, ALONE),
        ("loading data", [LOSS], None, 40, 0, {"loss": 0.25}, ALONE),
        ("Total steps: 80", [LOSS], None, 40, 80, {"loss": 0.25}, ALONE),
        ("Total steps: 30", [LOSS], None, 40, 0, {"loss": 0.25}, ALONE),
        ("", [LOSS, Recorded("max_steps", 0, 160)], None, 40, 160, {"loss": 0.25}, ALONE),
        ("test accuracy 0.98", [LOSS], None, 40, 0, {"loss": 0.25, "accuracy": 0.98}, ALONE),
        # As the last look left it.
        ("", [LOSS], Progress(done=20, total=80, unit="steps", message=ALONE), 40, 80, {"loss": 0.25}, ALONE),
        ("", [LOSS], Progress(done=90, unit="steps", message=ALONE), 40, 0, {"loss": 0.25}, ALONE),
        # What is printed counts first.
        ("step 3/9 loss 0.5", [LOSS], None, 3, 9, {"loss": 0.5}, ""),
        ("step 3/9 loss 0.5", [LOSS], Progress(done=2, message=ALONE), 3, 9, {"loss": 0.5}, ""),
        ("step 3/9", [LOSS], None, 3, 9, {"loss": 0.25}, METRICS),
        ("step 3/9", [LOSS], Progress(done=2, total=9, message=METRICS), 3, 9, {"loss": 0.25}, METRICS),
        ("Epoch 2/5", [LOSS], None, 2, 5, {"epoch": 2, "loss": 0.25}, f"epoch 2 of 5, {METRICS}"),
        (
            "", [LOSS], Progress(done=2, total=5, metrics={"loss": 9}, message=f"epoch 2 of 5, {METRICS}"),
            2, 5, {"loss": 0.25}, f"epoch 2 of 5, {METRICS}",
        ),
        (
            "step 3/4", [LOSS], Progress(done=1, total=5, message=f"epoch 2 of 5, {METRICS}"),
            7, 20, {"epoch": 2, "loss": 0.25}, f"epoch 2 of 5, {METRICS}",
        ),
    ],
)  # fmt: skip
def test_what_is_printed_and_what_is_written_down_tell_together(
    text: str, records: list[Recorded], before: Progress | None,
    done: float, total: float, metrics: dict[str, float], message: str,
) -> None:  # fmt: skip
    found = read_both(text, records, before, START, NOW)

    assert (found.done, found.total, found.metrics, found.message) == (done, total, metrics, message)
    assert found.updated_at == NOW


@pytest.mark.parametrize("text, left", [("", None), ("Total steps: 80", 8.0), ("Total steps: 40", 0.0)])
def test_without_a_total_nobody_knows_when_it_ends(text: str, left: float | None) -> None:
    found = read_both(text, [LOSS], None, START, NOW)

    assert (found.rate, found.eta_seconds) == (5.0, left)


@pytest.mark.parametrize(
    "progress, asked",
    [
        (None, True),
        (Progress(done=4, metrics={"loss": 1}, message=ALONE), True),
        (Progress(done=4, total=9, metrics={"loss": 1}, message=f"epoch 1 of 2, {METRICS}"), True),
        (Progress(done=4, total=9, metrics={"epoch": 1}), True),
        (Progress(done=4, total=9, metrics={"loss": 1}), False),
    ],
)
def test_records_are_asked_for_while_a_log_does_not_tell_enough(
    progress: Progress | None, asked: bool
) -> None:
    status: dict[str, Any] = {"phase": "Running", "progress": progress.wire() if progress else None}
    job = a_job(worker=2, ps=1, status=status)
    embedded = replace(seen(job, ps="Running", worker="Running"), logs_kept=True)

    assert wants_records(progress) is asked
    assert records_asked(asks(job, embedded)) == ["wide-deep-worker-0"] * asked
    # No other cluster could answer.
    assert records_asked(asks(job, replace(embedded, logs_kept=False))) == []


def records_asked(questions: Iterable[Question]) -> list[str]:
    return [question.pod for question in questions if isinstance(question, RecordsQuestion)]


@pytest.mark.parametrize(
    "printed, recorded, done",
    [
        (None, (LOSS,), 40),
        ("", (LOSS,), 40),
        ("step 3/9 loss 1", (LOSS,), 3),
        ("step 3/9", (), 3),
        ("step 3/9", None, 3),
        (None, None, None),
        ("", (), None),
    ],
)
def test_a_job_tells_what_its_first_worker_wrote_down(
    printed: str | None, recorded: tuple[Recorded, ...] | None, done: float | None
) -> None:
    job = a_job(worker=1)
    first = "wide-deep-worker-0"
    answers: dict[Any, Any] = {} if printed is None else dict(log_of(first, printed))
    answers[RecordsQuestion(NAMESPACE, first, "main")] = recorded
    status = reconcile(job, seen(job, worker="Running", answers=answers)).status

    assert isinstance(status, PaddleJobStatus)
    assert (status.progress.done if status.progress else None) == done
