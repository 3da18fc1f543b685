"""Completion indexes as a Job writes them, `0-2,5`, and on which index a pod works; pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from ...api.core import Pod

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def read_indexes(text: str, completions: int) -> set[int]:
    """The indexes of a text; those beyond *completions* mean nothing any more."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """Runs of three and more as `first-last`, everything else one by one."""
    parts = []
    for _, run in groupby(enumerate(sorted(indexes)), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        dense = len(numbers) > 2
        parts += [f"{numbers[0]}-{numbers[-1]}"] if dense else [str(n) for n in numbers]
    return ",".join(parts)


def index_of(pod: Pod) -> int | None:
    said = pod.metadata.annotations.get(INDEX, "")
    return int(said) if said.isdecimal() else None


def failures_of(pod: Pod) -> int:
    """How often its index had failed before this pod, failures that do not count left out."""
    return number(pod, FAILURES)


def attempts_of(pod: Pod) -> int:
    return number(pod, FAILURES) + number(pod, IGNORED)


def number(pod: Pod, annotation: str) -> int:
    said = pod.metadata.annotations.get(annotation, "")
    return int(said) if said.isdecimal() else 0
