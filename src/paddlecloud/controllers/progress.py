"""How far a training is, read from what it prints; pure, the same for controllers and for live bars.

Lines are read one after the other, because some tell the epoch and others the step (`trainlines` knows their
forms). What a line does not tell is known from those before it: a log is only looked at now and then, and by
its end, so that the progress of the last look is where reading begins.
"""

from __future__ import annotations

import re
from datetime import datetime

from ..api.meta import Progress
from .trainlines import COUNTERS, Told, read

KEEP_WRITING_EVERY = 30.0  # seconds between two writes when only the progress changed
RECENT = 10.0  # seconds after which the last look tells more of the speed than the beginning does
WHERE = re.compile(r"epoch (\d+) of (\d+)")


class Reader:
    """Reads a training line by line; `newest` is how far it is."""

    def __init__(self, before: Progress | None = None) -> None:
        self.newest = before
        self.found = False
        """Whether any line told something."""
        self.moved = False
        """Whether one told how far it is."""
        self._aside = False
        """Within an evaluation, whose steps are not those of the training."""
        known = WHERE.match(before.message) if before else None
        self._epoch, self._epochs = (int(known[1]), int(known[2])) if known else (0, 0)
        self._steps = int(before.total) if before and before.unit == "steps" and not known else 0

    def feed(self, line: str) -> Progress | None:
        """The progress after *line*, or None when it tells none."""
        told = read(line)
        if told is None:
            return None
        self.found = True
        if told.verdict:
            self._judge(told)
            return None
        self._steps = told.total or self._steps
        if told.epochs:
            self._epoch, self._epochs = int(told.epoch or 0), told.epochs
        self._aside = self._aside and told.epoch is None
        if not told.moves or self._aside:
            return None
        self.newest, self.moved = self._placed(told), True
        return self.newest

    def _judge(self, told: Told) -> None:
        result = {name: value for name, value in told.metrics.items() if name.lower() not in COUNTERS}
        self._aside = self._aside or not told.metrics
        if self.newest and result:
            self.newest = self.newest.but(metrics={**self.newest.metrics, **result})

    def _placed(self, told: Told) -> Progress:
        metrics, epoch, epochs = dict(told.metrics), self._epoch, self._epochs
        if epochs and "epoch" not in metrics:
            metrics["epoch"] = float(epoch)
        message = f"epoch {epoch} of {epochs}" if epochs else ""
        if epochs and told.steps and (told.epoch is None or told.epochs):
            done, total, unit = (epoch - 1) * told.steps + told.step, epochs * told.steps, "steps"
        elif told.steps or (told.step and not epochs):
            known = self._steps if told.step <= self._steps else 0
            done, total, unit = told.step, told.steps or known, "steps"
        else:
            done, total, unit = epoch, epochs, "epochs"
        return Progress(
            done=max(done, 0), total=total, unit=unit, metrics=metrics, message=message, eta_seconds=told.left
        )


def read_line(line: str) -> Progress | None:
    """The progress one line tells by itself, or None when it tells none."""
    return Reader().feed(line)


def read_log(text: str, before: Progress | None, start: datetime | None, now: datetime) -> Progress | None:
    """The newest progress in a log's last lines, with its rate; *before* if there is none.

    A verdict (`test accuracy 0.98 …`) that follows overrides the metrics of the last step.
    """
    reader = Reader(before)
    for line in text.splitlines():
        reader.feed(line)
    newest = reader.newest
    if newest is None or not reader.found:
        return before
    if not reader.moved:
        newest = newest.but(eta_seconds=None)
    return paced(newest, before, start, now)


def paced(newest: Progress, before: Progress | None, start: datetime | None, now: datetime) -> Progress:
    """*newest* with its rate and the time that is left; what the training believes itself counts."""
    rate, left = rate_of(newest, before, start, now), newest.eta_seconds
    if left is None and rate and newest.total:
        left = max(0.0, (newest.total - newest.done) / rate)
    if newest.total and newest.done >= newest.total:
        left = 0.0
    return newest.but(
        rate=round(rate, 3), eta_seconds=round(left, 1) if left is not None else None, updated_at=now
    )


def rate_of(newest: Progress, before: Progress | None, start: datetime | None, now: datetime) -> float:
    """Units a second since the last look if it is some time ago, else since the start; 0: not known."""
    if before and before.updated_at and (before.unit, before.total) == (newest.unit, newest.total):
        since, more = (now - before.updated_at).total_seconds(), newest.done - before.done
        if since >= RECENT and more > 0:
            return more / since
    elapsed = (now - start).total_seconds() if start else 0.0
    return newest.done / elapsed if elapsed > 0 else 0.0


def worth_writing(old: Progress | None, new: Progress | None, now: datetime) -> bool:
    """Progress alone is written now and then, not with every step."""
    if new is None or old is None:
        return new is not old
    if (old.done, old.metrics) == (new.done, new.metrics):
        return False
    since = (now - old.updated_at).total_seconds() if old.updated_at else KEEP_WRITING_EVERY
    return since >= KEEP_WRITING_EVERY
