"""Questions with known answers for a served model: how they are written, and what it is worth by them; pure.

A question is a line of JSON, `{"feed": {…}, "answer": 2}`. A model answers it with one score, which is a yes
above one half, or with one a class, of which the highest counts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..api.paddleservice import PaddleService
from ..errors import Failed


class Question(NamedTuple):
    feed: dict[str, Any]
    answer: int


class Answered(NamedTuple):
    right: bool
    milliseconds: float
    revision: str
    """Who answered, as the gateway says; empty where it does not."""


@dataclass(frozen=True)
class Score:
    requests: int
    right: int
    median: float
    """Milliseconds."""
    by_version: Mapping[str, tuple[int, int]]
    """Of each version: how many answers, and how many of them were right."""

    @property
    def accuracy(self) -> float:
        return self.right / self.requests

    def share(self, version: str) -> float:
        return self.by_version.get(version, (0, 0))[0] / self.requests


def questions(text: str) -> list[Question]:
    """Raises `Failed` for a line that is no question."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            said = json.loads(line)
            found.append(Question(dict(said["feed"]), int(said["answer"])))
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"line {number} of the questions is no question: {error}") from error
    if not found:
        raise Failed("there are no questions to ask")
    return found


def meant(scores: Sequence[float]) -> int:
    return int(scores[0] > 0.5) if len(scores) == 1 else max(range(len(scores)), key=scores.__getitem__)


def versions(service: PaddleService) -> dict[str, str]:
    """The version each revision of a service answers with."""
    ends = (service.status.default, service.status.canary)
    return {end.name: end.model_version for end in ends if end is not None and end.name}


def scored(answers: Sequence[Answered], names: Mapping[str, str]) -> Score:
    counts: dict[str, tuple[int, int]] = {}
    for one in answers:
        version = names.get(one.revision, one.revision)
        if version:
            asked, right = counts.get(version, (0, 0))
            counts[version] = (asked + 1, right + one.right)
    return Score(
        len(answers),
        sum(one.right for one in answers),
        statistics.median(one.milliseconds for one in answers),
        counts,
    )
