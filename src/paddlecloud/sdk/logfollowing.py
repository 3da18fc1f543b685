"""Following the logs of pods that come and go: every run of every container is read once, from its beginning.

Who is there is looked at again and again; a run that is new is read by a thread of its own. It ends when
nobody speaks any more and for a while nobody came, or when whoever looks says that it is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any, NamedTuple

from ..api.core import Pod

EVERY = 1.0
"""Seconds between looks."""
QUIET = 2.0
"""Seconds without anybody after which nobody is waited for; a replaced pod is away for less."""
DEFAULT = "kubectl.kubernetes.io/default-container"


GONE = -1
"""The number of a run of which only the kept log is left."""


class Run(NamedTuple):
    """One run of one container of one pod; a new pod of an old name is another."""

    pod: str
    container: str
    uid: str
    number: int

    def of_the_past(self) -> Run:
        """The same when its pod is no more."""
        return self._replace(number=GONE)


@dataclass(frozen=True)
class Look:
    runs: tuple[Run, ...]
    """Those that have a log by now."""
    alive: bool
    """Whether more may come of the pods that are there."""
    over: bool = False
    """Nobody need come any more: what has ended is read to its end, and that is all."""
    gone: tuple[Run, ...] = ()
    """Runs of pods that are gone, to be read where nothing of their pod was."""
    lasting: frozenset[Run] = frozenset()
    """Those that go on although it is over: parameter servers, say."""


def look_at(pods: Iterable[Pod], container: str, every: bool) -> Look:
    """What there is to read: of *container*, of *every* one, or of the one that speaks for its pod."""
    found = list(pods)
    runs = [run for pod in found for run in runs_of(pod, chosen(pod, container, every))]
    return Look(tuple(runs), any(not pod.finished for pod in found))


def chosen(pod: Pod, container: str, every: bool) -> list[str]:
    main = [str(c["name"]) for c in pod.spec["containers"]]
    if every:
        return [*(str(c["name"]) for c in pod.spec.get("initContainers") or ()), *main]
    return [container or pod.metadata.annotations.get(DEFAULT) or main[0]]


def runs_of(pod: Pod, containers: list[str]) -> Iterator[Run]:
    for kind in ("initContainerStatuses", "containerStatuses"):
        for status in pod.status.get(kind) or ():
            state: dict[str, Any] = status.get("state") or {}
            if status["name"] in containers and ("running" in state or "terminated" in state):
                yield Run(pod.name, status["name"], pod.uid, int(status.get("restartCount") or 0))


def followed(
    look: Callable[[], Look], read: Callable[[Run, bool], Iterator[bytes]], clock: Callable[[], float]
) -> Iterator[tuple[Run, bytes]]:
    """The lines of all runs as they come; *read* hears whether a run was there from the beginning."""
    lines: Queue[tuple[Run, bytes | None]] = Queue(1000)

    def pour(run: Run, first: bool) -> None:
        try:
            for line in read(run, first):
                lines.put((run, line))
        finally:
            lines.put((run, None))

    known, reading = set[Run](), set[Run]()
    looked, quiet_since = None, clock()
    while True:
        now = clock()
        if looked is None or now - looked >= EVERY:
            seen = look()
            heard = {run.uid for run in known}
            fresh = [run for run in seen.runs if run not in known]
            for run in (*fresh, *(run for run in seen.gone if run.uid not in heard)):
                threading.Thread(target=pour, args=(run, looked is None), daemon=True).start()
                known.add(run)
                reading.add(run)
            looked = now
            if (reading - seen.lasting) or (seen.alive and not seen.over):
                quiet_since = now
            elif (seen.over and not reading) or now - quiet_since >= QUIET:
                return
        try:
            run, line = lines.get(timeout=max(0.0, EVERY - (clock() - looked)))
        except Empty:
            continue
        if line is not None:
            yield run, line
            continue
        reading.discard(run)
        if seen.over and not reading:
            return
