"""What a training says of itself: one line of one shape every few steps, one verdict at the end.

They look like this:

    epoch 2/8 step 15/62 loss 0.4312 auc 0.871 samples/s 913
    test auc 0.9012 loss 0.3412
"""

from __future__ import annotations

import time

import clicks
import numpy as np
from records import Curves

STEPS_BETWEEN_LINES = 10


class Teller:
    """Collects what the steps give, prints it now and then and writes it to the curves."""

    def __init__(self, epochs: int, steps: int, samples_a_step: int, curves: Curves) -> None:
        self._curves = curves
        self._epochs, self._steps, self._samples = epochs, steps, samples_a_step
        self._told: list[tuple[float, np.ndarray, np.ndarray]] = []
        self._since = time.monotonic()

    def step(self, epoch: int, step: int, loss: float, scores: np.ndarray, click: np.ndarray) -> None:
        self._told.append((loss, scores.ravel(), click.ravel()))
        if step % STEPS_BETWEEN_LINES and step != self._steps:
            return
        losses, scored, clicked = zip(*self._told, strict=True)
        now = time.monotonic()
        speed = len(losses) * self._samples / max(now - self._since, 1e-9)
        area = clicks.auc(np.concatenate(clicked), np.concatenate(scored))
        print(f"epoch {epoch}/{self._epochs} step {step}/{self._steps} loss {np.mean(losses):.4f} "
              f"auc {area:.3f} samples/s {speed:.0f}", flush=True)  # fmt: skip
        at = (epoch - 1) * self._steps + step
        self._curves.add("TRAIN/loss", float(np.mean(losses)), at)
        self._curves.add("TRAIN/auc", area, at)
        self._told, self._since = [], now


def judged(split: clicks.Split, scores: np.ndarray) -> dict[str, float]:
    return {"auc": clicks.auc(split.click, scores), "loss": clicks.log_loss(split.click, scores)}


def told(verdict: dict[str, float]) -> None:
    print(f"test auc {verdict['auc']:.4f} loss {verdict['loss']:.4f}", flush=True)
