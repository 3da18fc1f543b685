"""How long the epochs of a training took, from the times of the lines that tell of them; pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from ..controllers.trainlines import read
from .loglines import time_of


class Epoch(NamedTuple):
    """From the first line of one epoch to the first of the next."""

    number: int
    begin: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()


def epochs_of(stamped: Iterable[str]) -> list[Epoch]:
    """The epochs that were followed by another, in order; a job that began anew counts from there."""
    begun: list[tuple[int, datetime]] = []
    for line in stamped:
        stamp, _, text = line.partition(" ")
        told = read(text)
        if told is None or told.epoch is None or told.verdict:
            continue
        number, when = int(told.epoch), time_of(stamp.encode())
        if begun and number < begun[-1][0]:
            begun = []
        if not begun or number > begun[-1][0]:
            begun.append((number, when))
    return [Epoch(number, begin, end) for (number, begin), (_, end) in pairwise(begun)]
