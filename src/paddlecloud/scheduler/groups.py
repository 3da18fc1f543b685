"""Groups of pods that start together or not at all; pure.

A pod names its PodGroup; the group says how many must begin at once and what they need together. Once that
many have a node the others come one by one, as any pod does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..api.meta import Key
from ..api.scheduling import PodGroup, PriorityClass
from . import words
from .board import Room
from .needs import SYSTEM_PRIORITIES, Needs
from .quantities import amount

TASK = "volcano.sh/task-spec"


@dataclass(frozen=True)
class Gang:
    """Pods that are placed in one step; a pod without a group is one of one."""

    members: tuple[Needs, ...]
    group: PodGroup | None = None
    started: int = 0
    obstacle: str = ""
    priority: int = 0

    @property
    def least(self) -> int:
        return self.group.spec.min_member or 1 if self.group else 1

    @property
    def lacking(self) -> int:
        """How many more must find a node; a pod by itself may as well find none."""
        return max(0, self.least - self.started) if self.group else 0

    def too_few(self, failed: int) -> str:
        return words.gang(failed, len(self.members), self.started, self.least)

    def missing(self) -> str:
        """What keeps the group from beginning wherever there is room: pods of it that are not there yet."""
        if self.group is None or self.started:
            return ""
        if len(self.members) < self.least:
            return self.too_few(len(self.members))
        there = Counter(task_of(needs) for needs in self.members)
        for task, least in self.group.spec.min_task_member.items():
            if there[task] < least:
                return words.task(task, there[task], least)
        return ""

    def obstacle_in(self, rooms: Iterable[Room]) -> str:
        """What the nodes together lack of what the group says it needs, before it has begun."""
        if self.group is None or self.started:
            return ""
        rooms = list(rooms)
        for name, quantity in self.group.spec.min_resources.items():
            try:
                least = amount(name, quantity)
            except ValueError as error:
                return f"pod group {self.group.name} asks for what cannot be read: {error}"
            if sum(max(0, room.free.get(name, 0)) for room in rooms) < least:
                return f"pod group {self.group.name} needs {quantity} of {name}: the nodes have less left"
        return ""

    def can_begin(self, placed: Iterable[Needs]) -> bool:
        """Whether it may begin with these; one that has begun takes whoever finds a node."""
        placed = list(placed)
        if self.group is None or len(placed) < self.lacking or self.started:
            return len(placed) >= self.lacking
        there = Counter(task_of(needs) for needs in placed)
        return all(there[task] >= least for task, least in self.group.spec.min_task_member.items())


def gangs(
    waiting: Iterable[Needs],
    groups: Mapping[Key, PodGroup],
    started: Mapping[Key, int],
    classes: Mapping[str, PriorityClass],
) -> list[Gang]:
    """The most important first; else the pods in their order, those of a group at the place of its first."""
    found = list(gathered(waiting, groups, started, classes))
    return sorted(found, key=lambda gang: -gang.priority)


def gathered(
    waiting: Iterable[Needs],
    groups: Mapping[Key, PodGroup],
    started: Mapping[Key, int],
    classes: Mapping[str, PriorityClass],
) -> Iterator[Gang]:
    order: dict[Key | Needs, list[Needs]] = {}
    for needs in waiting:
        order.setdefault(needs.group or needs, []).append(needs)
    for of, members in order.items():
        highest = members[0].priority
        if isinstance(of, Needs):
            yield Gang(tuple(members), priority=highest)
        elif (group := groups.get(of)) is None:
            problem = f'podgroup.scheduling.volcano.sh "{of.name}" not found'
            yield Gang(tuple(members), obstacle=problem, priority=highest)
        else:
            rank = rank_of(group, classes)
            yield Gang(tuple(members), group, started.get(of, 0), priority=highest if rank is None else rank)


def rank_of(group: PodGroup, classes: Mapping[str, PriorityClass]) -> int | None:
    """The priority of the group's own class; None where it names none that is there."""
    name = group.spec.priority_class_name
    found = classes.get(name)
    return found.value if found else SYSTEM_PRIORITIES.get(name)


def task_of(needs: Needs) -> str:
    return needs.pod.metadata.annotations.get(TASK, "")
