"""Groups of pods that start together or not at all; pure.

A pod names its PodGroup; the group says how many must begin at once and what they need together. Once that
many have a node the others come one by one, as any pod does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..api.meta import Key
from ..api.scheduling import PodGroup
from . import words
from .board import Room
from .needs import Needs
from .quantities import amount


@dataclass(frozen=True)
class Gang:
    """Pods that are placed in one step; a pod without a group is one of one."""

    members: tuple[Needs, ...]
    group: PodGroup | None = None
    started: int = 0
    obstacle: str = ""

    @property
    def least(self) -> int:
        return int(self.group.spec.get("minMember") or 1) if self.group else 1

    @property
    def lacking(self) -> int:
        """How many more must find a node; a pod by itself may as well find none."""
        return max(0, self.least - self.started) if self.group else 0

    def too_few(self, failed: int) -> str:
        return words.gang(failed, len(self.members), self.started, self.least)

    def obstacle_in(self, rooms: Iterable[Room]) -> str:
        """What the nodes together lack of what the group says it needs, before it has begun."""
        if self.group is None or self.started:
            return ""
        if len(self.members) < self.least:
            return self.too_few(len(self.members))
        rooms = list(rooms)
        for name, quantity in (self.group.spec.get("minResources") or {}).items():
            if sum(max(0, room.free.get(name, 0)) for room in rooms) < amount(name, quantity):
                return f"pod group {self.group.name} needs {quantity} of {name}: the nodes have less left"
        return ""


def gangs(
    waiting: Iterable[Needs], groups: Mapping[Key, PodGroup], started: Mapping[Key, int]
) -> Iterator[Gang]:
    """The pods in their order, those of one group at the place of the first of them."""
    order: dict[Key | Needs, list[Needs]] = {}
    for needs in waiting:
        order.setdefault(needs.group or needs, []).append(needs)
    for of, members in order.items():
        if isinstance(of, Needs):
            yield Gang(tuple(members))
        elif (group := groups.get(of)) is None:
            yield Gang(tuple(members), obstacle=f'podgroup.scheduling.volcano.sh "{of.name}" not found')
        else:
            yield Gang(tuple(members), group, started.get(of, 0))
