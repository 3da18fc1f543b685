"""What one line of a training says about its progress; pure.

Understood are the lines of Paddle's suites (Clas, OCR, Detection, Seg, NLP, Rec), of `paddle.Model`, of tqdm
and of plain scripts. A line that tells nothing is None: nothing is guessed from numbers that have no name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

LONGEST, MOST_METRICS = 2000, 20
COUNT = r"(\d{1,15})"
OF = rf"{COUNT}\s*(?:/|of)\s*{COUNT}(?![\d.])"
EPOCHS = re.compile(rf"\bepoch\b[\s:=\[(#]*{OF}", re.IGNORECASE)
EPOCH = re.compile(r"\bepoch\b[\s:=\[(#]*(\d{1,15}(?:\.\d+)?)", re.IGNORECASE)
WORD = r"(?:(?:global|train|training|current)[ _])?(?:steps?|iter(?:ation)?s?|batch(?:es)?|batch_id)"
STEPS = re.compile(rf"\b{WORD}\b[\s:=\[(#]*{OF}", re.IGNORECASE)
STEP = re.compile(
    rf"\b(?:global[ _]step|batch_id|iter(?:ation)?)\b[\s:=\[(#]*{COUNT}(?![\d./])", re.IGNORECASE
)
INNER = re.compile(rf"\bepoch\b[\s:=\[(#]*\d{{1,15}}(?:/\d{{1,15}})?\]?,?\s*\[\s*{OF}", re.IGNORECASE)
"""`Epoch: [3] [ 20/100]`, `Train Epoch: 1 [640/60000 (1%)]`."""
BAR = re.compile(rf"\d{{1,3}}%\|[^|]*\|\s*{OF} \[[\d:]+<([\d:]+|\?)(?:,[^\]]*)?\]")
TOTAL = re.compile(rf"\btotal (?:\w+ )?steps\s*[:=]\s*{COUNT}\b", re.IGNORECASE)
LEFT = re.compile(r"\beta\b\s*[:=]?\s*(?:(\d{1,6}) days?,\s*)?(\d{1,6}):(\d\d)(?::(\d\d))?", re.IGNORECASE)
NUMBER = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w/.:])"
METRIC = re.compile(rf"([A-Za-z][\w/.]{{0,62}}\w|[A-Za-z])(?:\s*[:=]\s*|\s+){NUMBER}", re.IGNORECASE)
VERDICT = re.compile(
    r"\W*(?:(?:test|eval|evaluation|val|validation)\b|eval_"
    r"|(?:cur|current|best) metric\b|epoch:? \d+ done\b)",
    re.IGNORECASE,
)
COUNTERS = frozenset(
    {
        *("epoch", "epochs", "best_epoch", "step", "steps", "global_step", "of", "eta", "samples"),
        *("iter", "iters", "iteration", "batch", "batches", "batch_id"),
    }
)
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
PREFIX = re.compile(
    r"\W*(?:\d[-\d/:.,T]*Z?\W+){0,3}(?:[\w.]+\W+)?(?:INFO|DEBUG|WARNING)\b[\s:\]-]*(?:[\w.]+\.py:\d+[\s:\]-]*)?"
)


@dataclass(frozen=True)
class Told:
    """What a line tells; zero and None: it does not."""

    epoch: float | None = None
    epochs: int = 0
    step: int = 0
    steps: int = 0
    """Of one epoch, or of everything where no epoch is told."""
    left: float | None = None
    """Seconds until the end as the training itself believes."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    verdict: bool = False
    """A result, not a step: of an evaluation."""
    total: int = 0
    """Steps of the whole training, told once at its beginning."""

    @property
    def moves(self) -> bool:
        return bool(self.epochs or self.steps or self.step)


def read(line: str) -> Told | None:
    line = COLOUR.sub("", line[:LONGEST])
    said = PREFIX.sub("", line, count=1) if PREFIX.match(line) else line
    if VERDICT.match(said):
        # Steps of an evaluation are neither steps of the training nor its result.
        part = STEPS.search(said) and not EPOCHS.search(said)
        return None if part else Told(verdict=True, metrics=measured(said))
    if found := TOTAL.search(said):
        return Told(total=int(found[1]))
    told = counted(said)
    return told if told.moves else None


def counted(line: str) -> Told:
    epochs, epoch, bar = EPOCHS.search(line), EPOCH.search(line), BAR.search(line)
    number, total = (float(epochs[1]), int(epochs[2])) if epochs else (float(epoch[1]) if epoch else None, 0)
    metrics = {name: value for name, value in measured(line).items() if name.lower() not in COUNTERS}
    if number is not None:
        metrics["epoch"] = number
    if bar:
        left = None if number is not None else clock(bar[3])
        return Told(number, total, int(bar[1]), int(bar[2]), left, metrics)
    if within := STEPS.search(line) or INNER.search(line):
        return Told(number, total, int(within[1]), int(within[2]), left_of(line), metrics)
    single = STEP.search(line)
    return Told(number, total, int(single[1]) if single else 0, 0, left_of(line), metrics)


def measured(line: str) -> dict[str, float]:
    found = ((name, float(value)) for name, value in METRIC.findall(line))
    # JSON has no infinity.
    finite = [(name, value) for name, value in found if math.isfinite(value)]
    return dict(finite[:MOST_METRICS])


def left_of(line: str) -> float | None:
    found = LEFT.search(line)
    if found is None:
        return None
    days, parts = int(found[1] or 0), [int(part) for part in found.groups()[1:] if part]
    hours, minutes, seconds = parts if len(parts) == 3 else (0, *parts)
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def clock(text: str) -> float | None:
    """Seconds of `1:02:03`, `02:03` or `?`."""
    total = 0
    for part in text.split(":"):
        if not part.isdecimal():
            return None
        total = total * 60 + int(part)
    return float(total)
