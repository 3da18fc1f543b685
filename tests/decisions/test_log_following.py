"""`pdc logs -f` of many: which runs there are to read, and that each is read once whenever it comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.sdk.logfollowing import DEFAULT, Look, Run, followed, look_at

Wire = dict[str, Any]
RUNNING: Wire = {"running": {}}
WAITING: Wire = {"waiting": {}}
ENDED: Wire = {"terminated": {}}


def a_pod(name: str = "p", phase: str = "Running", **states: Wire) -> Pod:
    statuses = [{"name": c, "restartCount": n, "state": s} for n, (c, s) in enumerate(states.items())]
    return Pod.read(
        {
            "metadata": {"name": name, "uid": f"uid-{name}"},
            "spec": {"containers": [{"name": c} for c in states]},
            "status": {"phase": phase, "containerStatuses": statuses},
        }
    )


@pytest.mark.parametrize(
    "pod, container, every, read",
    [
        (a_pod(a=RUNNING, b=RUNNING), "", False, ["a"]),
        (a_pod(a=RUNNING, b=RUNNING), "b", False, ["b"]),
        (a_pod(a=RUNNING, b=RUNNING), "", True, ["a", "b"]),
        (a_pod(a=WAITING, b=ENDED), "", True, ["b"]),
        (a_pod(a=WAITING), "", False, []),
    ],
)
def test_the_containers_that_are_read(pod: Pod, container: str, every: bool, read: list[str]) -> None:
    assert [run.container for run in look_at([pod], container, every).runs] == read


def test_the_container_that_speaks_for_its_pod_may_be_named_by_it() -> None:
    pod = a_pod(a=RUNNING, b=RUNNING)
    pod = pod.but(metadata=pod.metadata.but(annotations={DEFAULT: "b"}))
    assert look_at([pod], "", False).runs == (Run("p", "b", "uid-p", 1),)


@pytest.mark.parametrize(
    "phases, alive", [([], False), (["Succeeded", "Failed"], False), (["Pending"], True)]
)
def test_more_may_come_as_long_as_a_pod_is_not_finished(phases: list[str], alive: bool) -> None:
    assert look_at([a_pod(phase=phase, a=ENDED) for phase in phases], "", False).alive is alive


def test_runs_that_come_later_are_read_from_their_beginning_and_none_twice() -> None:
    first, restarted, replaced = Run("p", "c", "1", 0), Run("p", "c", "1", 1), Run("p", "c", "2", 0)
    looks = iter(
        [Look((first,), True), Look((first, restarted), True), Look((), False), Look((replaced,), True)]
    )
    asked: list[tuple[Run, bool]] = []
    ticks = count()

    def read(run: Run, there_at_first: bool) -> Iterator[bytes]:
        asked.append((run, there_at_first))
        yield f"{run.uid}/{run.number}".encode()

    told = list(followed(lambda: next(looks, Look((), False)), read, lambda: float(next(ticks))))

    assert sorted(told) == [(first, b"1/0"), (restarted, b"1/1"), (replaced, b"2/0")]
    assert sorted(asked) == [(first, True), (restarted, False), (replaced, False)]


def tick_by_tick(*looks: Look) -> list[tuple[Run, bytes]]:
    """What is heard when one look follows the other and the last one repeats."""
    coming, ticks = iter(looks), count()

    def read(run: Run, there_at_first: bool) -> Iterator[bytes]:
        yield run.uid.encode()

    return list(followed(lambda: next(coming, looks[-1]), read, lambda: float(next(ticks))))


def test_it_ends_with_the_job_and_pods_that_were_gone_before_they_were_seen_are_read_at_the_end() -> None:
    seen, missed = Run("p", "c", "1", 0), Run("q", "c", "2", -1)
    kept = Run("p", "c", "1", -1)

    told = tick_by_tick(Look((), True), Look((seen,), True), Look((), True, over=True, gone=(kept, missed)))

    assert sorted(told) == [(seen, b"1"), (missed, b"2")]


def test_who_goes_on_after_the_end_is_heard_and_not_waited_for() -> None:
    server, ended = Run("ps", "c", "1", 0), Run("w", "c", "2", 0)
    released = threading.Event()
    ticks = count()

    def read(run: Run, there_at_first: bool) -> Iterator[bytes]:
        yield run.uid.encode()
        if run is server:
            released.wait(20)

    look = Look((server, ended), True, over=True, lasting=frozenset({server}))
    told = list(followed(lambda: look, read, lambda: float(next(ticks))))
    released.set()

    assert sorted(told) == [(server, b"1"), (ended, b"2")]
