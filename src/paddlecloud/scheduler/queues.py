"""Queues of gangs: what each may take, and whose turn it is when they compete; pure.

A queue that names a capability never gets more, however much is free. Room that several queues want goes to
the one whose part, measured by its weight, is the smallest; nobody is evicted to even that out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from ..api.meta import Key
from ..api.scheduling import DEFAULT_QUEUE, PodGroup, Queue
from .board import Room
from .groups import Gang
from .quantities import amount, text_of
from .resources import Amounts, add

CLOSED = ("Closed", "Closing")


class Shares:
    """What the groups of each queue hold, kept while a round places more of them."""

    def __init__(
        self,
        queues: Mapping[str, Queue],
        groups: Mapping[Key, PodGroup],
        taken: Mapping[Key, Mapping[str, int]],
        rooms: Iterable[Room] = (),
    ) -> None:
        self._queues, self._rooms = queues, rooms
        self._total: Amounts | None = None
        self.used: dict[str, Amounts] = {}
        for key, amounts in taken.items():
            if group := groups.get(key):
                self.take(group.spec.queue, amounts)

    def take(self, queue: str, amounts: Mapping[str, int]) -> None:
        add(self.used.setdefault(queue, {}), amounts)

    def give_back(self, queue: str, amounts: Mapping[str, int]) -> None:
        self.take(queue, {name: -value for name, value in amounts.items()})

    def closed(self, name: str) -> str:
        """Why the queue takes no new gang at all."""
        queue = self._queues.get(name)
        # The queue of those who name none needs no object.
        if queue is None:
            return "" if name == DEFAULT_QUEUE else f'queue.scheduling.volcano.sh "{name}" not found'
        return f"queue {name} is {queue.status.state}" if queue.status.state in CLOSED else ""

    def excess(self, name: str, who: str, wanted: Mapping[str, int]) -> str:
        """What the queue may not give to *who* without going beyond its capability."""
        used = self.used.get(name, {})
        for resource, most in self.capability(name).items():
            if (more := wanted.get(resource, 0)) > 0 and used.get(resource, 0) + more > most:
                left = text_of(resource, max(0, most - used.get(resource, 0)))
                return (
                    f"queue {name} has {left} of its {text_of(resource, most)} {resource} left, "
                    f"{who} needs {text_of(resource, more)}"
                )
        return ""

    def capability(self, name: str) -> Amounts:
        queue = self._queues.get(name)
        found: Amounts = {}
        for resource, quantity in (queue.spec.capability if queue else {}).items():
            try:
                found[resource] = amount(resource, quantity)
            except ValueError:
                continue
        return found

    def part(self, name: str) -> float:
        """The largest part of any resource of the nodes that the queue holds, by its weight."""
        if self._total is None:
            self._total = {}
            for room in self._rooms:
                add(self._total, room.capacity)
        used, queue = self.used.get(name, {}), self._queues.get(name)
        parts = (used.get(r, 0) / total for r, total in self._total.items() if total > 0 and r != "pods")
        return max(parts, default=0.0) / (queue.spec.weight if queue else 1)


def in_turn(gangs: list[Gang], shares: Shares) -> Iterator[Gang]:
    """The gangs in their order; where queues compete the poorest is next, each with its own first gang.

    Asked for the next one after the last has been placed: what that took counts.
    """
    lines: dict[str, deque[tuple[int, Gang]]] = {}
    for place, gang in enumerate(gangs):
        if gang.group:
            lines.setdefault(gang.group.spec.queue, deque()).append((place, gang))
    if len(lines) < 2:
        yield from gangs
        return
    for gang in gangs:
        if gang.group is None:
            yield gang
            continue
        poorest = min(lines, key=lambda name: (shares.part(name), lines[name][0][0]))
        yield lines[poorest].popleft()[1]
        if not lines[poorest]:
            del lines[poorest]
