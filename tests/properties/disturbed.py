"""Plays a scenario once in peace, then with each disturbance it leaves room for, and tells what went wrong.

The points to disturb at are counted in the undisturbed play. Each play has a namespace of its own; some run
at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from tests.properties.plays import Played, Scenario, play
from tests.properties.portraits import differences
from tests.properties.witness import CALM, Disturbance, EventPoint

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access

AT_ONCE = 8
"""More would not end sooner, and each would last longer: after 40 s a cluster lets go of pods whose node it
has never heard of, as the simulated one is."""

Disturbances = Callable[[Played], Iterator[Disturbance]]


def crashes(calm: Played) -> Iterator[Disturbance]:
    """The process is killed after its first write, its second, and so on."""
    for number in range(1, len(calm.writes) + 1):
        yield Disturbance(crash_after=number)


def stale_caches(calm: Played) -> Iterator[Disturbance]:
    """A watch stops moving at its first event, its third, …, until everybody has done what they can.

    What came meanwhile is heard then, or is lost and has to be found by listing: in turns.
    """
    points = [EventPoint(kind, n) for kind, count in sorted(calm.heard.items()) for n in range(1, count + 1)]
    for number, point in enumerate(points[::2]):
        yield Disturbance(late=point) if number % 2 else Disturbance(lost=point)


async def faults_of(access: Access, scenario: Scenario, disturbances: Disturbances) -> list[str]:
    """Where an end differs from the undisturbed one, or something was made or deleted more or less often."""
    room = asyncio.Semaphore(AT_ONCE)

    async def faults(disturbance: Disturbance) -> list[str]:
        async with room:
            played = await play(client, scenario, disturbance)
        return [
            f"{disturbance}: {line}" for line in (*differences(played.end, calm.end), *amiss(played, calm))
        ]

    async with Client(access) as client:
        calm = await play(client, scenario)
        # In peace once more: a scenario whose end is a matter of luck shows nothing.
        found = await asyncio.gather(*(faults(d) for d in (CALM, *disturbances(calm))))
    return [line for lines in found for line in lines]


def amiss(played: Played, calm: Played) -> Iterator[str]:
    for write, times in (played.made() - calm.made()).items():
        yield f"{write.method} {write.place} {times} times too often"
    for write, times in (calm.made() - played.made()).items():
        yield f"{write.method} {write.place} {times} times too seldom"
