"""How far a training is by what it wrote down with VisualDL, together with what it printed; pure.

What is printed counts first, because it tells of how many steps. Records are asked for while a log tells no
progress or no metric of its own; what came from them is marked in the message, so that the next look asks
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ..api.meta import Progress
from .outside import Recorded
from .progress import Reader, paced
from .trainlines import COUNTERS, MOST_METRICS, read

ALONE, METRICS = "from VisualDL", "metrics from VisualDL"
SIDE = re.compile(
    r"(?:(train|training)|eval|evaluate|evaluation|val|valid|validation|test|dev)[/_.](.+)", re.IGNORECASE
)
"""`train/loss`, `EVAL/acc`, `train_loss`."""
TOTALS = frozenset({"total_steps", "max_steps", "num_steps", "total_iters", "max_iters", "num_iters"})
LEFT_OUT = TOTALS | COUNTERS - {"epoch"}
DIGITS = 7
"""As many as a number of VisualDL has."""


def wants_records(progress: Progress | None) -> bool:
    """Whether a training that is known to be so far may have more to tell in its records."""
    return progress is None or progress.message.endswith(ALONE) or not has_metrics(progress.metrics)


def has_metrics(metrics: Mapping[str, float]) -> bool:
    return any(name != "epoch" for name in metrics)


def read_both(
    text: str, records: Sequence[Recorded], before: Progress | None, start: datetime | None, now: datetime
) -> Progress:
    """The newest progress in a log's last lines and in some *records*, with its rate."""
    apart = before is not None and before.message != ALONE
    reader = Reader(before if apart else from_records(records, text, before))
    for line in text.splitlines():
        reader.feed(line)
    newest = reader.newest
    assert newest is not None
    if newest.message != ALONE and not (reader.moved and has_metrics(newest.metrics)):
        newest = with_metrics(newest, metrics_of(records))
    return paced(newest if reader.moved else newest.but(eta_seconds=None), before, start, now)


def from_records(records: Sequence[Recorded], text: str, before: Progress | None) -> Progress:
    """What records tell alone; the total may have been told by the log, or by an earlier look at it."""
    done = step_of(records)
    total = total_of(records) or total_told(text) or (before.total if before else 0)
    known = total if total >= done else 0
    return Progress(done=done, total=known, unit="steps", metrics=metrics_of(records), message=ALONE)


def with_metrics(printed: Progress, metrics: Mapping[str, float]) -> Progress:
    where = printed.message.removesuffix(METRICS).removesuffix(", ")
    message = f"{where}, {METRICS}" if where else METRICS
    return printed.but(metrics={**printed.metrics, **metrics}, message=message)


def metrics_of(records: Iterable[Recorded]) -> dict[str, float]:
    """The numbers by their names; one of an evaluation keeps its side where the training has it, too."""
    trained: dict[str, float] = {}
    judged: dict[str, tuple[str, float]] = {}
    for one in records:
        name, evaluated = named(one.tag)
        if one.value is None or name.lower() in LEFT_OUT:
            continue
        value = float(f"{one.value:.{DIGITS}g}")
        if evaluated:
            judged[name] = one.tag, value
        else:
            trained["epoch" if name.lower() == "epoch" else name] = value
    told = trained | {(tag if name in trained else name): value for name, (tag, value) in judged.items()}
    return dict(sorted(told.items(), key=lambda item: (item[0].count("/"), item[0]))[:MOST_METRICS])


def named(tag: str) -> tuple[str, bool]:
    """The name of a number without its side, and whether it is of an evaluation."""
    found = SIDE.fullmatch(tag)
    return (found[2], found[1] is None) if found else (tag, False)


def step_of(records: Iterable[Recorded]) -> int:
    """How far the training is; evaluations count in their own way and are asked only where nobody else is."""
    steps: dict[bool, int] = {}
    for one in records:
        evaluated = named(one.tag)[1]
        steps[evaluated] = max(steps.get(evaluated, 0), one.step)
    return steps.get(False, steps.get(True, 0))


def total_of(records: Iterable[Recorded]) -> float:
    told = (one.value for one in records if named(one.tag)[0].lower() in TOTALS)
    return max((value for value in told if value is not None), default=0)


def total_told(text: str) -> float:
    """Steps of the whole training, from a log that tells nothing else."""
    return max((told.total for line in text.splitlines() if (told := read(line))), default=0)
