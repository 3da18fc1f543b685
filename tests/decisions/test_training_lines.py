"""Lines as Paddle's suites, `paddle.Model`, tqdm and people print them, and the progress they tell."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.decisions.builders import NOW

from paddlecloud.api.meta import Progress
from paddlecloud.controllers.progress import RECENT, Reader, read_line, read_log
from paddlecloud.controllers.trainlines import LONGEST, MOST_METRICS

CLAS = "[2022/10/14 10:20:30] ppcls INFO: "
OCR = "[2022/10/14 10:20:30] ppocr INFO: "
DET = "[10/14 10:20:30] ppdet.engine INFO: "
NLP = "[2022-10-14 10:20:30,123] [    INFO] - "
REC = "2022-10-14 10:20:30,123 - INFO - "


@pytest.mark.parametrize(
    "line, done, total, left, metrics",
    [
        (CLAS + "[Train][Epoch 3/120][Iter: 20/100]lr: 0.00500, CELoss: 1.25, loss: 1.25, batch_cost: 0.25s, "
         "ips: 256.0 images/s, eta: 0:12:34", 220, 12000, 754,
         {"lr": 0.005, "CELoss": 1.25, "loss": 1.25, "ips": 256, "epoch": 3}),
        (OCR + "epoch: [3/500], global_step: 240, lr: 0.000125, acc: 0.85, loss: 4.5, avg_batch_cost: 0.2 s, "
         "ips: 640.0 samples/s, eta: 1 day, 0:10:00", 3, 500, 87000,
         {"lr": 0.000125, "acc": 0.85, "loss": 4.5, "avg_batch_cost": 0.2, "ips": 640, "epoch": 3}),
        (DET + "Epoch: [3] [ 20/100] learning_rate: 0.001 loss_cls: 0.5 loss: 3.25 eta: 0:01:00 batch_cost: "
         "0.25 ips: 32.5 images/s", 20, 100, 60,
         {"learning_rate": 0.001, "loss_cls": 0.5, "loss": 3.25, "batch_cost": 0.25, "ips": 32.5,
          "epoch": 3}),
        ("2022-10-14 10:20:30 [INFO]\t[TRAIN] epoch: 1, iter: 100/1000, loss: 0.5, lr: 0.009, "
         "batch_cost: 0.1, ips: 40.0 samples/sec | ETA 00:01:30", 100, 1000, 90,
         {"loss": 0.5, "lr": 0.009, "batch_cost": 0.1, "ips": 40, "epoch": 1}),
        (NLP + "global step 100, epoch: 1, batch: 99, loss: 0.5, acc: 0.8, speed: 5.20 step/s", 100, 0, None,
         {"loss": 0.5, "acc": 0.8, "speed": 5.2, "epoch": 1}),
        (NLP + "global step 100/3000, epoch: 1, batch: 99, loss: 0.5", 100, 3000, None,
         {"loss": 0.5, "epoch": 1}),
        (NLP + "loss: 0.53, learning_rate: 4.9e-05, global_step: 100, interval_runtime: 10.5, epoch: 1.25",
         100, 0, None, {"loss": 0.53, "learning_rate": 4.9e-05, "interval_runtime": 10.5, "epoch": 1.25}),
        (REC + "epoch: 0, batch_id: 10, auc: 0.51, loss: [0.69], avg_reader_cost: 0.002 sec, "
         "ips: 40000.0 ins/s",
         10, 0, None, {"auc": 0.51, "avg_reader_cost": 0.002, "ips": 40000, "epoch": 0}),
        ("step  20/938 [..............................] - loss: 0.125 - acc: 0.9 - 12ms/step", 20, 938, None,
         {"loss": 0.125, "acc": 0.9}),
        ("step 20/938 - loss: 0.1 - acc: 0.9 - ETA: 1:05 - 12ms/step", 20, 938, 65,
         {"loss": 0.1, "acc": 0.9}),
        (" 33%|███▎      | 100/300 [00:10<00:20,  9.80it/s, loss=0.5]", 100, 300, 20, {"loss": 0.5}),
        ("Epoch 2/5:  50%|█████     | 10/20 [00:01<00:01,  9.80it/s]", 30, 100, None, {"epoch": 2}),
        ("  0%|          | 0/300 [00:00<?, ?it/s]", 0, 300, None, {}),
        ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.25", 640, 60000, None, {"Loss": 2.25, "epoch": 1}),
        ("epoch: [3/10]", 3, 10, None, {"epoch": 3}),
        ("Epoch #3/10 finished, loss=0.5", 3, 10, None, {"loss": 0.5, "epoch": 3}),
        ("epoch 2 of 5, batch 3 of 4, acc: 95.5%", 7, 20, None, {"acc": 95.5, "epoch": 2}),
        ("\x1b[32mINFO\x1b[0m epoch 1/2 step 1/2 loss nan", 1, 4, None, {"epoch": 1}),
        ("[worker] iteration 7/9 loss -1e-3", 7, 9, None, {"loss": -0.001}),
        ("training step: [20/100] reward 12", 20, 100, None, {"reward": 12}),
        ("step 5/0 loss 1", 5, 0, None, {"loss": 1}),
        ("epoch: 99999999999999999999/5", 0, 0, None, None),
        (CLAS + "[Eval][Epoch 3][Iter: 0/50]CELoss: 1.0, top1: 0.7", 0, 0, None, None),
        (CLAS + "[Eval][Epoch 3][Avg]CELoss: 1.1, top1: 0.71", 0, 0, None, None),
        (OCR + "best metric, acc: 0.98, best_epoch: 4", 0, 0, None, None),
        (REC + "epoch: 0 done, auc: 0.7, epoch time: 12.3 s", 0, 0, None, None),
        ("Eval begin...", 0, 0, None, None),
        ("downloading 12.5/45.0 MB", 0, 0, None, None),
        ("epoch time 12 s", 0, 0, None, None),
        ("version 2/3 of the protocol", 0, 0, None, None),
        ("W1114 10:20:30.123456 1234 gpu_resources.cc:61] iterations are slow", 0, 0, None, None),
        ("INFO 2022-10-14 10:20:30 launch.py:123] Local processes completed.", 0, 0, None, None),
    ],
)  # fmt: skip
def test_a_line_of_a_training(
    line: str, done: float, total: float, left: float | None, metrics: dict[str, float] | None
) -> None:
    told = read_line(line)

    if metrics is None:
        assert told is None
    else:
        assert told is not None
        assert (told.done, told.total, told.eta_seconds, told.metrics) == (done, total, left, metrics)


@pytest.mark.parametrize(
    "lines, done, total, metrics",
    [
        # The epoch stands in a line of its own, the steps of an evaluation count for nothing.
        (["Epoch 2/3", "step 10/40 - loss: 0.5"], 50, 120, {"loss": 0.5, "epoch": 2}),
        (["Epoch 2/3", "step 40/40 - loss: 0.5", "Eval begin...", "step 9/9 - loss: 0.1", "Eval samples: 90"],
         80, 120, {"loss": 0.5, "epoch": 2}),
        (["Epoch 2/3", "step 40/40 - loss: 0.5", "Eval begin...", "step 9/9 - loss: 0.1", "Epoch 3/3",
          "step 1/40 - loss: 0.4"], 81, 120, {"loss": 0.4, "epoch": 3}),
        # The whole is told once, at the beginning.
        ([NLP + "  Total optimization steps = 3,0", NLP + "  Total optimization steps = 300",
          NLP + "loss: 0.5, global_step: 30, epoch: 0.3"], 30, 300, {"loss": 0.5, "epoch": 0.3}),
        # Results go into the metrics of the last step.
        ([CLAS + "[Train][Epoch 1/2][Iter: 9/10]loss: 0.5",
          CLAS + "[Eval][Epoch 1][Avg]loss: 0.4, top1: 0.75"],
         9, 20, {"loss": 0.4, "top1": 0.75, "epoch": 1}),
        (["epoch 1/2 step 2/2 loss 3", "eval_loss: 0.25, eval_accuracy: 0.9"], 2, 4,
         {"loss": 3, "eval_loss": 0.25, "eval_accuracy": 0.9, "epoch": 1}),
    ],
)  # fmt: skip
def test_lines_tell_together_what_none_tells_alone(
    lines: list[str], done: float, total: float, metrics: dict[str, float]
) -> None:
    reader = Reader()
    for line in lines:
        reader.feed(line)

    assert reader.newest is not None
    assert (reader.newest.done, reader.newest.total, reader.newest.metrics) == (done, total, metrics)


def test_a_look_at_the_end_of_a_log_goes_on_from_the_look_before() -> None:
    first = read_log("Epoch 2/3\nstep 10/40 - loss: 0.5", None, None, NOW)
    assert first is not None and first.message == "epoch 2 of 3"

    then = read_log("step 30/40 - loss: 0.25", first, None, NOW + timedelta(seconds=RECENT))
    assert then is not None
    assert (then.done, then.total, then.rate, then.eta_seconds) == (70, 120, 2.0, 25.0)

    steps = read_log("Total train steps: 100\nglobal step 10", None, None, NOW)
    later = read_log("global step 40", steps, None, NOW + timedelta(seconds=RECENT))
    assert later is not None and (later.done, later.total, later.rate) == (40, 100, 3.0)


@pytest.mark.parametrize(
    "text, before, left",
    [
        ("step 4/10 eta: 0:00:07", None, 7),  # the training knows better
        ("step 4/10", None, 12),
        ("step 10/10 eta: 0:00:07", None, 0),
        ("step 4", None, None),
        ("global step 4", None, None),
        ("step 12/10", None, 0),
        ("eval acc 0.5", Progress(done=4, total=10, unit="steps", eta_seconds=99), 12),
    ],
)
def test_how_long_it_takes_yet(text: str, before: Progress | None, left: float | None) -> None:
    told = read_log(text, before, NOW - timedelta(seconds=8), NOW)

    assert (told.eta_seconds if told else None) == left


def test_lines_without_end_or_with_thousands_of_numbers_cost_little() -> None:
    told = read_line("step 1/2 " + " ".join(f"m{n}: {n}" for n in range(1, 1000)))
    assert told is not None and len(told.metrics) <= MOST_METRICS

    assert read_line("x" * 10_000_000 + " step 1/2") is None
    hostile = [
        "epoch" * 400,
        "0" * LONGEST,
        "[" * LONGEST,
        "step " * 400,
        "1%|" * 600,
        "a " * 1000,
        "a.b/" * 500,
    ]
    assert [read_line(line) for line in hostile] == [None] * len(hostile)
