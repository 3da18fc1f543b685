"""Which pods of a PaddleJob count: those of its present attempt; pure.

A pod takes part in the attempt in which it was let go, together with the peers there were then; both stand
in the annotation that lets it go. One that still waits at its gate can take part in any. So who has to begin
again is seen from the pods themselves, after any crash, and whatever happened while nobody looked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from ..api.core import Pod
from ..api.paddlejob import PaddleJob
from .jobpods import MADE_FROM, made_from, pod_names, role_of
from .startorder import START


class Mark(NamedTuple):
    """What a pod was let go with."""

    attempt: int
    peers: str = ""
    """Who the others were; empty: not known, it was let go by an earlier version of the platform."""

    def __str__(self) -> str:
        return f"{self.attempt}.{self.peers}"


def mark_of(pod: Pod) -> Mark | None:
    """None for a pod that has not been let go."""
    told = pod.metadata.annotations.get(START)
    if told is None:
        return None
    number, _, peers = told.partition(".")
    return Mark(int(number), peers) if number.isdecimal() else Mark(0)


def fingerprint(pods: Iterable[Pod]) -> str:
    """The same for the same pods only: one that came back under its name is another."""
    return hashlib.sha256(" ".join(sorted(p.uid for p in pods)).encode()).hexdigest()[:10]


def current(job: PaddleJob, there: dict[str, Pod]) -> dict[str, Pod]:
    """The pods that count, in the order of their roles: neither leaving nor to be replaced."""
    found = ((name, there.get(name)) for name in pod_names(job))
    return {
        name: pod
        for name, pod in found
        if pod is not None and pod.metadata.deletion_timestamp is None and not outdated(job, pod)
    }


def outdated(job: PaddleJob, pod: Pod) -> bool:
    """Whether another pod has to take its place."""
    mark = mark_of(pod)
    if pod.uid in job.status.replaced or (mark is not None and mark.attempt < job.status.attempt):
        return True
    # The job may have rested, and been edited, while nobody looked.
    made = pod.metadata.annotations.get(MADE_FROM)
    return made is not None and made_from(job, role_of(pod)) not in (made, None)
