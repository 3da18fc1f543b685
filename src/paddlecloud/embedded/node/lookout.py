"""Looks at one pod: what its files tell, and what was heard that no file tells.

The memory here is all that a new node process lacks. It is small on purpose: what must not be forgotten is in
the notes of the runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...api.core import Pod
from . import attempts, roles
from .attempts import Attempt, State
from .containerstatus import container_id
from .podfolder import PodFolder
from .sight import Ending, Sight, Stop, rested


class Lookout:
    def __init__(
        self, pod: Pod, folder: PodFolder, now: Callable[[], float], refused: Ending | None = None
    ) -> None:
        self._folder, self._now = folder, now
        self._known = Sight(0.0, refused=refused, ready=ready_before(pod, folder))
        self._ends: dict[tuple[str, int], float] = {}
        """When the end of a run was met, by the steady clock."""
        self._leaving: datetime | None = None

    def learn(self, **news: Any) -> None:
        """Something was heard; the names are those of a `Sight`."""
        self._known = replace(self._known, **news)

    @property
    def known(self) -> Sight:
        return self._known

    def stopping(self, name: str, number: int, **changes: Any) -> None:
        """The stopping of a run has begun or gone on."""
        before = self._known.stops.get(name)
        if before is None or before.number != number:
            before = Stop(number, steady())
        self.learn(stops={**self._known.stops, name: replace(before, **changes)})

    def look(self, pod: Pod, prepared: bool) -> Sight:
        runs = {name: self._folder.attempts(name) for name in roles.names(pod)}
        now, moment = self._now(), steady()
        self._see_deletion(pod, now, moment)
        self._see_ends(pod, runs, now, moment)
        rests = {name: moment - self._ends[key] for name, key in newest(runs).items() if key in self._ends}
        return replace(self._known, now=now, steady=moment, attempts=runs, rested=rests, prepared=prepared)

    def _see_deletion(self, pod: Pod, now: float, moment: float) -> None:
        """Kubernetes writes the end of the grace period, not the time of the request; it may be shortened."""
        asked = pod.metadata.deletion_timestamp
        if asked is None or asked == self._leaving:
            return
        self._leaving = asked
        granted = pod.metadata.deletion_grace_period_seconds
        left = max(0.0, asked.timestamp() - now)
        # A clock that was set back since then must not make the grace longer.
        end = moment + (left if granted is None else min(left, granted))
        before = self._known.leave_by
        self.learn(leave_by=end if before is None else min(before, end))

    def _see_ends(self, pod: Pod, runs: Mapping[str, Sequence[Attempt]], now: float, moment: float) -> None:
        for name, key in newest(runs).items():
            attempt = runs[name][-1]
            if not attempt.state.over or key in self._ends:
                continue
            if attempt.state == State.VANISHED:
                attempts.sweep(pod.uid, name)
            # The time of day may jump from now on: another clock counts.
            self._ends[key] = moment - rested(Sight(now, runs), name)
            self.learn(ready={k: v for k, v in self._known.ready.items() if k != name})


def newest(runs: Mapping[str, Sequence[Attempt]]) -> dict[str, tuple[str, int]]:
    return {name: (name, of_container[-1].number) for name, of_container in runs.items() if of_container}


def ready_before(pod: Pod, folder: PodFolder) -> dict[str, bool]:
    """Who was ready when the last node process looked: a new one takes nobody out of service."""
    found = {}
    for status in (
        *(pod.status.get("initContainerStatuses") or ()),
        *(pod.status.get("containerStatuses") or ()),
    ):
        runs = folder.attempts(status["name"]) if status.get("ready") else ()
        if runs and status.get("containerID") == container_id(pod, status["name"], runs[-1]):
            found[status["name"]] = True
    return found


def steady() -> float:
    return time.monotonic()
