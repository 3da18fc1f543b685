"""How far a training is, read from what it prints; pure, the same for controllers and for live bars.

Understood are the lines of Paddle's suites and of plain scripts: `epoch 2/5 step 40/125 loss 0.43`,
`epoch: [2/5], global_step: 40, loss: 0.43`, `[Train] epoch 3/10, iter 20/100 …`.
"""

from __future__ import annotations

import math
import re
from datetime import datetime

from ..api.meta import Progress

EPOCH = re.compile(r"\bepoch\b[\s:=\[(]*(\d+)\s*(?:/|of)\s*(\d+)", re.IGNORECASE)
STEP = re.compile(r"\b(?:step|iter(?:ation)?|batch)\b[\s:=\[(]*(\d+)\s*(?:/|of)\s*(\d+)", re.IGNORECASE)
NUMBER = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w/.])"
METRIC = re.compile(rf"([A-Za-z][\w/.]*)(?:\s*[:=]\s*|\s+){NUMBER}", re.IGNORECASE)
VERDICT = re.compile(r"\W*(?:test|eval|evaluation|val|validation)\b", re.IGNORECASE)
COUNTERS = ("epoch", "step", "iter", "iteration", "batch", "of")
KEEP_WRITING_EVERY = 30.0  # seconds between two writes when only the progress changed


def read_line(line: str) -> Progress | None:
    """The progress one line tells, or None when it tells none."""
    epoch, step = EPOCH.search(line), STEP.search(line)
    if not epoch and not step:
        return None
    done, total, unit = counted(epoch, step)
    metrics = {name: value for name, value in measured(line).items() if name.lower() not in COUNTERS}
    if epoch:
        metrics["epoch"] = float(epoch[1])
    return Progress(done=done, total=total, unit=unit, metrics=metrics)


def counted(epoch: re.Match[str] | None, step: re.Match[str] | None) -> tuple[float, float, str]:
    if epoch and step:
        steps, epochs = int(step[2]), int(epoch[2])
        return (int(epoch[1]) - 1) * steps + int(step[1]), epochs * steps, "steps"
    if step:
        return int(step[1]), int(step[2]), "steps"
    assert epoch
    return int(epoch[1]), int(epoch[2]), "epochs"


def measured(line: str) -> dict[str, float]:
    found = ((name, float(value)) for name, value in METRIC.findall(line))
    # JSON has no infinity.
    return {name: value for name, value in found if math.isfinite(value)}


def read_log(text: str, before: Progress | None, start: datetime | None, now: datetime) -> Progress | None:
    """The newest progress in a log's last lines, with the rate since the start; *before* if there is none.

    A verdict (`test accuracy 0.98 …`) that follows overrides the metrics of the last step.
    """
    newest = before
    verdict: dict[str, float] = {}
    found = False
    for line in text.splitlines():
        if told := read_line(line):
            newest, verdict, found = told, {}, True
        elif VERDICT.match(line):
            verdict |= measured(line)
    if newest is None or not (found or verdict):
        return before
    elapsed = (now - start).total_seconds() if start else 0.0
    rate = newest.done / elapsed if elapsed > 0 else 0.0
    eta = (newest.total - newest.done) / rate if rate else None
    return newest.but(
        rate=round(rate, 3),
        eta_seconds=round(eta, 1) if eta is not None else None,
        metrics={**newest.metrics, **verdict},
        updated_at=now,
    )


def worth_writing(old: Progress | None, new: Progress | None, now: datetime) -> bool:
    """Progress alone is written now and then, not with every step."""
    if new is None or old is None:
        return new is not old
    if (old.done, old.metrics) == (new.done, new.metrics):
        return False
    since = (now - old.updated_at).total_seconds() if old.updated_at else KEEP_WRITING_EVERY
    return since >= KEEP_WRITING_EVERY
