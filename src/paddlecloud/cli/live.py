"""Progress while it happens: from lines as they come, with their speed, in a few words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from ..api.meta import Progress
from ..controllers.progress import Reader
from ..sizes import size

SHOWN = ("loss", "avg_loss", "acc", "accuracy", "top1", "auc", "miou", "map", "hmean")
AT_MOST = 2  # metrics in a line
BYTES = "bytes"


class Live:
    """Reads what a training prints; *clock* counts seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._reader = clock, Reader()
        self._first: tuple[float, Progress] | None = None

    def feed(self, line: str) -> Progress | None:
        """How far it is after *line*, with rate and ETA, or None when the line does not tell."""
        told = self._reader.feed(line)
        if told is None:
            return None
        now = self._clock()
        if self._first is None or (self._first[1].unit, self._first[1].total) != (told.unit, told.total):
            self._first = now, told
        since, begun = now - self._first[0], self._first[1].done
        rate = (told.done - begun) / since if since > 0 and told.done > begun else 0.0
        left = told.eta_seconds
        if left is None and rate and told.total:
            left = max(0.0, (told.total - told.done) / rate)
        return told.but(rate=rate, eta_seconds=left)


def done_of(progress: Progress) -> str:
    if progress.unit == BYTES:
        of = f" of {size(round(progress.total))}" if progress.total else ""
        return f"{size(round(progress.done))}{of}"
    total = f"/{progress.total:g}" if progress.total else ""
    return f"{progress.done:g}{total} {progress.unit}".strip()


def words(progress: Progress) -> str:
    """`epoch 2 of 5  165/625 steps  loss 0.4312  accuracy 0.8800  3.2 steps/s  ETA 0:02:24`"""
    parts = [progress.message, done_of(progress)]
    chosen = [name for name in progress.metrics if name.lower() in SHOWN]
    chosen.sort(key=lambda name: SHOWN.index(name.lower()))
    parts += [f"{name} {progress.metrics[name]:.4f}" for name in chosen[:AT_MOST]]
    if progress.rate:
        rate = (
            size(round(progress.rate)) if progress.unit == BYTES else f"{progress.rate:.3g} {progress.unit}"
        )
        parts.append(f"{rate}/s")
    if progress.eta_seconds is not None and progress.done < (progress.total or progress.done + 1):
        parts.append(f"ETA {timedelta(seconds=round(progress.eta_seconds))}")
    return "  ".join(filter(None, parts))
