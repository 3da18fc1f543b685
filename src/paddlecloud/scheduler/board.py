"""The nodes and what stands on them, kept up to date change by change.

Invariant: a room's free amounts, ports and owners are its node's less those of the pods put on it, in
whatever order nodes and pods came; a pod whose node is not known waits for it and takes no room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ..api.core import Node, Pod
from ..api.meta import Key
from ..api.scheduling import PriorityClass
from .needs import Needs, Port, needs_of
from .neighbours import Neighbours, Settled
from .resources import Amounts, add, allocatable
from .selectors import Labels
from .taints import Taint, taints_of

T = TypeVar("T")


@dataclass(eq=False)
class Room:
    """What is left on a node."""

    node: Node
    capacity: Amounts
    free: Amounts
    taints: tuple[Taint, ...]
    likely: list[int] = field(default_factory=lambda: [0, 0])
    """The cpu and memory its pods are taken to use."""
    slots: int = 0
    """How many more pods it takes."""
    ports: Counter[Port] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    pods: dict[Key, Needs] = field(default_factory=dict)

    def change(self, needs: Needs, step: int) -> None:
        for name, value in needs.requests.items():
            self.free[name] = self.free.get(name, 0) - step * value
        self.slots -= step
        self.likely[0] += step * needs.likely[0]
        self.likely[1] += step * needs.likely[1]
        for port in needs.ports:
            count(self.ports, port, step)
        if needs.owner:
            count(self.owners, needs.owner, step)


class Board:
    def __init__(self) -> None:
        self.rooms: dict[str, Room] = {}
        self.neighbours = Neighbours()
        self.changes: list[str] = []
        """The rooms in the order they changed since the round began."""
        self.started: Counter[Key] = Counter()
        """How many pods of each group have a node or had one and did their work."""
        self.taken: dict[Key, Amounts] = {}
        """What the pods of each group that are on nodes ask for."""
        self.users: Counter[Key] = Counter()
        """How many pods use a claim."""
        self._there: dict[Key, tuple[str, Needs]] = {}
        self._on: dict[str, dict[Key, Needs]] = {}
        self._done: dict[Key, Key] = {}

    def begin(self, namespaces: Mapping[str, Labels]) -> None:
        """Before a round of placements: nodes in order of their names, nothing changed yet."""
        self.rooms = dict(sorted(self.rooms.items()))
        self.neighbours.begin(namespaces)
        self.changes.clear()

    def set_node(self, node: Node) -> bool:
        """Take the node as it is now; whether that makes a difference to pods."""
        old = self.rooms.get(node.name)
        if old is not None and same(old.node, node):
            return False
        self.drop_node(node.name)
        capacity = allocatable(node)
        room = Room(node, capacity, dict(capacity), taints_of(node), slots=capacity.get("pods", 0))
        self.rooms[node.name] = room
        for needs in self._on.get(node.name, {}).values():
            self._enter(room, needs)
        return True

    def drop_node(self, name: str) -> bool:
        if (room := self.rooms.pop(name, None)) is None:
            return False
        for key in room.pods:
            self.neighbours.remove(key)
        return True

    def put(self, needs: Needs, node: str) -> None:
        """The pod is on the node, whether the node is known or not."""
        self.remove(needs.key)
        self._there[needs.key] = (node, needs)
        self._on.setdefault(node, {})[needs.key] = needs
        self._tell(needs, 1)
        if room := self.rooms.get(node):
            self._enter(room, needs)

    def remove(self, key: Key) -> bool:
        """The pod is gone, or has ended; whether it was there."""
        node, needs = self._there.pop(key, ("", None))
        if needs is None:
            return False
        del self._on[node][key]
        if not self._on[node]:
            del self._on[node]
        self._tell(needs, -1)
        room = self.rooms.get(node)
        if room and room.pods.pop(key, None):
            room.change(needs, -1)
            self.neighbours.remove(key)
            self.changes.append(node)
        return True

    def finish(self, key: Key, group: Key | None) -> None:
        """A member of a group has done its work: it takes no room and still counts as started."""
        self.forget(key)
        if group:
            self._done[key] = group
            count(self.started, group, 1)

    def forget(self, key: Key) -> None:
        """The pod is no more, however it ended."""
        self.remove(key)
        if group := self._done.pop(key, None):
            count(self.started, group, -1)

    def find(self, key: Key) -> tuple[str, Needs] | None:
        return self._there.get(key)

    def _enter(self, room: Room, needs: Needs) -> None:
        room.pods[needs.key] = needs
        room.change(needs, 1)
        pod, place = needs.pod.metadata, room.node.metadata.labels
        self.neighbours.put(needs.key, Settled(pod.namespace, pod.labels, needs.near, place))
        self.changes.append(room.node.name)

    def _tell(self, needs: Needs, step: int) -> None:
        if needs.group:
            count(self.started, needs.group, step)
            taken = self.taken.setdefault(needs.group, {})
            add(taken, {name: step * value for name, value in needs.requests.items()})
            if not any(taken.values()):
                del self.taken[needs.group]
        for name in needs.claims:
            count(self.users, Key(needs.key.namespace, name), step)


def count(counter: Counter[T], what: T, step: int) -> None:
    counter[what] += step
    if not counter[what]:
        del counter[what]


def same(old: Node, new: Node) -> bool:
    """Whether nothing changed that a pod could ask for; nodes tell every few seconds that they live."""
    return (
        old.metadata.labels == new.metadata.labels
        and old.spec == new.spec
        and old.status.get("allocatable") == new.status.get("allocatable")
        and set(statuses(old)) == set(statuses(new))
    )


def statuses(node: Node) -> Iterator[tuple[str, str]]:
    return ((c.get("type", ""), c.get("status", "")) for c in node.status.get("conditions") or ())


def board_of(
    nodes: Iterable[Node], pods: Iterable[Pod] = (), classes: Mapping[str, PriorityClass] | None = None
) -> Board:
    """A board with everything on it; a pod that cannot be read stands in nobody's way."""
    board = Board()
    for node in nodes:
        board.set_node(node)
    for pod in pods:
        if pod.node and not pod.finished:
            try:
                board.put(needs_of(pod, classes or {}), pod.node)
            except ValueError:
                continue
    return board
