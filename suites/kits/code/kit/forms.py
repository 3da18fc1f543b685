"""How the suites tell their progress: one class a suite, the lines in the form that its users know."""

from __future__ import annotations

import datetime
from pathlib import Path

from kit.training import Moment


def listed(values: dict[str, float], digits: int = 6) -> str:
    return ", ".join(f"{name}: {value:.{digits}f}" for name, value in values.items())


def clock(seconds: float) -> str:
    return str(datetime.timedelta(seconds=int(seconds)))


class PaddleOCR:
    """`[2022/05/10 11:22:33] ppocr INFO: epoch: [1/10], global_step: 10, lr: 0.001000, loss: 2.3, …`"""

    newest, best = "latest", "best_accuracy"

    def say(self, text: str) -> None:
        print(f"[{datetime.datetime.now():%Y/%m/%d %H:%M:%S}] ppocr INFO: {text}", flush=True)

    def step(self, now: Moment) -> str:
        return (
            f"epoch: [{now.epoch}/{now.epochs}], global_step: {now.done}, lr: {now.rate:.6f}, "
            f"{listed(now.losses)}, avg_reader_cost: {now.reader_cost:.5f} s, "
            f"avg_batch_cost: {now.batch_cost:.5f} s, avg_samples: {now.samples:.1f}, "
            f"ips: {now.samples / now.batch_cost:.5f} samples/s, eta: {clock(now.eta)}"
        )

    def verdict(self, epoch: int, metrics: dict[str, float]) -> str:
        return f"cur metric, {listed(metrics)}"

    def champion(self, best: dict[str, float]) -> str:
        metrics = {name: value for name, value in best.items() if name != "best_epoch"}
        return f"best metric, {listed(metrics)}, best_epoch: {int(best['best_epoch'])}"

    def kept(self, prefix: Path, best: bool) -> str:
        return f"save best model is to {prefix}" if best else f"save model in {prefix}"


class PaddleClas:
    """`[2022/05/10 11:22:33] ppcls INFO: [Train][Epoch 1/20][Iter: 10/100]lr: 0.001, loss: 0.7, …`"""

    newest, best = "latest", "best_model"

    def say(self, text: str) -> None:
        print(f"[{datetime.datetime.now():%Y/%m/%d %H:%M:%S}] ppcls INFO: {text}", flush=True)

    def step(self, now: Moment) -> str:
        return (
            f"[Train][Epoch {now.epoch}/{now.epochs}][Iter: {now.step}/{now.steps}]lr: {now.rate:.8f}, "
            f"{listed(now.losses, 5)}, batch_cost: {now.batch_cost:.5f}s, "
            f"reader_cost: {now.reader_cost:.5f}, "
            f"ips: {now.samples / now.batch_cost:.5f} samples/s, eta: {clock(now.eta)}"
        )

    def verdict(self, epoch: int, metrics: dict[str, float]) -> str:
        return f"[Eval][Epoch {epoch}][Avg]{listed(metrics, 5)}"

    def champion(self, best: dict[str, float]) -> str:
        return f"[Eval][Epoch {int(best['best_epoch'])}][best metric: {best['top1']}]"

    def kept(self, prefix: Path, best: bool) -> str:
        return f"Already save model in {prefix}"


class PaddleDetection:
    """`[05/10 11:22:33] ppdet.engine INFO: Epoch: [0] [ 10/100] learning_rate: 0.001 loss: 3.2 …`"""

    newest, best = "model_final", "best_model"

    def say(self, text: str) -> None:
        print(f"[{datetime.datetime.now():%m/%d %H:%M:%S}] ppdet.engine INFO: {text}", flush=True)

    def step(self, now: Moment) -> str:
        losses = " ".join(f"{name}: {value:.6f}" for name, value in now.losses.items())
        # Epochs and steps are counted from nought here.
        return (
            f"Epoch: [{now.epoch - 1}] [{now.step - 1:>{len(str(now.steps))}}/{now.steps}] "
            f"learning_rate: {now.rate:.6f} {losses} eta: {clock(now.eta)} batch_cost: {now.batch_cost:.4f} "
            f"data_cost: {now.reader_cost:.4f} ips: {now.samples / now.batch_cost:.4f} images/s"
        )

    def verdict(self, epoch: int, metrics: dict[str, float]) -> str:
        return f"Eval {listed(metrics, 3)}"

    def champion(self, best: dict[str, float]) -> str:
        return f"Best test bbox ap is {best['ap']:.3f}."

    def kept(self, prefix: Path, best: bool) -> str:
        return f"Save checkpoint: {prefix}"


class PaddleNLP:
    """`[2022-05-10 11:22:33] [    INFO] - global step 10, epoch: 1, batch: 10, loss: 0.69, …`"""

    newest, best = "latest", "model_state"

    def say(self, text: str) -> None:
        print(f"[{datetime.datetime.now():%Y-%m-%d %H:%M:%S}] [    INFO] - {text}", flush=True)

    def step(self, now: Moment) -> str:
        return (
            f"global step {now.done}/{now.epochs * now.steps}, epoch: {now.epoch}/{now.epochs}, "
            f"batch: {now.step}, {listed(now.losses, 5)}, lr: {now.rate:.6f}, "
            f"speed: {1 / now.batch_cost:.2f} step/s, eta: {clock(now.eta)}"
        )

    def verdict(self, epoch: int, metrics: dict[str, float]) -> str:
        return f"eval {listed(metrics, 5)}"

    def champion(self, best: dict[str, float]) -> str:
        return f"best accuracy: {best['accuracy']:.5f} (epoch {int(best['best_epoch'])})"

    def kept(self, prefix: Path, best: bool) -> str:
        return f"Model weights saved in {prefix}.pdparams"
