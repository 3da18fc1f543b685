"""One object and what is around it, in memory: decisions are carried out on it as the runtime would.

Small enough to read, and true where it matters: patches are merge patches, children get a uid, and a
server may leave out what is empty, as Kubernetes does for its own kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from paddlecloud.api.meta import Resource
from paddlecloud.controllers.contract import (
    Controller,
    Decision,
    HttpQuestion,
    Question,
    Recorded,
    RecordsQuestion,
    SecretQuestion,
    SecretSight,
    Snapshot,
    Update,
    identity,
    plan,
)
from paddlecloud.controllers.ownership import placed
from paddlecloud.controllers.statuses import status_patch
from paddlecloud.embedded.server.patches import merge

Identity = tuple[Any, ...]
MEANT_EMPTY = ("emptyDir",)


@dataclass(frozen=True)
class World:
    controller: Controller
    owner: Resource
    children: Mapping[Identity, Resource]
    related: tuple[Resource, ...]
    now: datetime
    said: Any = None
    """What everybody answers who is asked over HTTP."""
    printed: str | None = None
    """What every log says."""
    recorded: tuple[Recorded, ...] | None = None
    """What every container wrote down; None on a cluster that tells no records and keeps no logs."""
    terse: bool = False
    """The server leaves out what is empty."""

    def decide(self) -> Decision:
        answers = {q: self._answer(q) for q in self.asked()}
        decision = self.controller.reconcile(self.owner, replace(self._seen(), answers=answers))
        return replace(decision, children=tuple(placed(c, self.owner) for c in decision.children))

    def asked(self) -> tuple[Question, ...]:
        return self.controller.asks(self.owner, self._seen())

    def _seen(self) -> Snapshot:
        children = tuple(sorted(self.children.values(), key=identity))
        return Snapshot(self.now, children, self.related, logs_kept=self.recorded is not None)

    def _answer(self, question: Question) -> Any:
        if isinstance(question, SecretQuestion):
            return SecretSight(frozenset(), self.owner.uid)
        if isinstance(question, RecordsQuestion):
            return self.recorded
        return self.said if isinstance(question, HttpQuestion) else self.printed

    def writes(self) -> list[Callable[[World], World]]:
        """What the runtime would do now, one write after the other, in its order."""
        decision = self.decide()
        planned = plan(self.children.values(), decision)
        found: list[Callable[[World], World]] = []
        found += [without(child) for child in planned.delete]
        found += [with_child(stored(child, self.terse)) for child in planned.create]
        found += [self._change(u) for u in decision.changes]
        found += [with_child(patched(u.observed, u.patch, self.terse)) for u in planned.update]
        assert decision.status is not None
        if patch := status_patch(self.owner, decision.status):
            found.append(with_status(patch))
        return found

    def _change(self, update: Update) -> Callable[[World], World]:
        """A patch of a child or of the object itself; a child that loses its owner is none any more."""
        if identity(update.observed) == identity(self.owner):
            return lambda w: replace(w, owner=patched(w.owner, update.patch, self.terse))
        if "ownerReferences" in update.patch.get("metadata", {}):
            return without(update.observed)
        return with_child(patched(update.observed, update.patch, self.terse))

    def settled(self, rounds: int) -> World:
        """The world after looking until nothing is left to write, within so many looks."""
        world = self
        for _ in range(rounds):
            writes = world.writes()
            if not writes:
                return world
            for write in writes:
                world = write(world)
        left = world.writes()
        assert not left, f"{world.controller.name} does not settle in {rounds} looks: {world.decide()}"
        return world

    def state(self) -> tuple[Any, Any]:
        return self.owner.wire(), {key: child.wire() for key, child in self.children.items()}


def without(child: Resource) -> Callable[[World], World]:
    return lambda w: replace(w, children={k: c for k, c in w.children.items() if k != identity(child)})


def with_child(child: Resource) -> Callable[[World], World]:
    return lambda w: replace(w, children={**w.children, identity(child): child})


def with_status(patch: dict[str, Any]) -> Callable[[World], World]:
    return lambda w: replace(w, owner=type(w.owner).read(merge(w.owner.wire(), {"status": patch})))


def stored(child: Resource, terse: bool) -> Resource:
    """The child as the server gives it back."""
    wire = child.wire()
    wire["metadata"] |= {"uid": f"uid-{child.kind}-{child.name}", "generation": 1}
    return type(child).read(without_empty(wire) if terse else wire)


def patched(child: Resource, patch: dict[str, Any], terse: bool) -> Resource:
    old = child.wire()
    wire = merge(old, patch)
    if wire.get("spec") != old.get("spec"):
        wire["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    return type(child).read(without_empty(wire) if terse else wire)


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: without_empty(v) for k, v in value.items()}
        return {k: v for k, v in kept.items() if v not in (None, "", [], {}) or k in MEANT_EMPTY}
    return [without_empty(v) for v in value] if isinstance(value, list) else value
