"""The contract of every controller: look at a snapshot, answer with what should be.

    reconcile(object, Snapshot) -> Decision          a pure function, one a resource
    plan(observed, decision)    -> Plan              the smallest set of writes

The list of children in a decision is complete: what is not listed goes, except what holds data, which
goes only by an explicit `Removal` with its reason. `runtime` does all the looking and all the writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

from ..api.meta import Key, Resource, Value
from .outside import HttpCall as HttpCall
from .outside import HttpQuestion as HttpQuestion
from .outside import KeptLogQuestion as KeptLogQuestion
from .outside import LogQuestion as LogQuestion
from .outside import ObjectQuestion as ObjectQuestion
from .outside import Question as Question
from .outside import Recorded as Recorded
from .outside import RecordsQuestion as RecordsQuestion
from .outside import SecretQuestion as SecretQuestion
from .outside import SecretSight as SecretSight
from .outside import Token as Token
from .outside import WarningQuestion as WarningQuestion

R = TypeVar("R", bound=Resource)


class Ref(NamedTuple):
    """An object a decision wants to see although it does not own it."""

    kind: type[Resource]
    namespace: str
    name: str


class Selection(NamedTuple):
    """All objects of a kind with these labels, in one namespace (all of them: empty)."""

    kind: type[Resource]
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    orphans: bool = False
    """Only those nobody controls."""


@dataclass(frozen=True)
class Snapshot:
    """What exists around one object, read once before deciding."""

    now: datetime
    children: tuple[Resource, ...] = ()
    related: tuple[Resource, ...] = ()
    answers: Mapping[Question, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    """Why children could not be made at the last look: what the server said, or that a name is taken."""
    glance: bool = True
    """Whether this is a look for how far something is, at which that may be asked for."""
    logs_kept: bool = False
    """Whether the cluster itself keeps the logs of pods that are gone; one that does also tells records."""
    missing: frozenset[type[Resource]] = frozenset()
    """Kinds the controller owns or reads that this cluster does not have: their engine is not installed."""
    rebuffs: Mapping[HttpCall, str] = field(default_factory=dict)
    """Calls of earlier looks that were refused, and what was said."""

    def owned(self, kind: type[R]) -> dict[str, R]:
        """The children of a kind, by name."""
        # A decision asks for them a dozen times.
        found = self._by_kind.get(kind)
        if found is None:
            found = self._by_kind[kind] = {c.name: c for c in self.children if isinstance(c, kind)}
        return cast(dict[str, R], found)

    @cached_property
    def _by_kind(self) -> dict[type[Resource], dict[str, Resource]]:
        return {}

    @cached_property
    def worked(self) -> dict[str, Any]:
        """What the questions worked out of it, for the decision, which sees the same and the answers."""
        return {}

    def find(self, kind: type[R], name: str) -> R | None:
        """A related object by name, if it exists."""
        return next((r for r in self.related if isinstance(r, kind) and r.name == name), None)

    def all(self, kind: type[R]) -> tuple[R, ...]:
        """The related objects of a kind."""
        return tuple(r for r in self.related if isinstance(r, kind))


class Note(NamedTuple):
    """An event to record on the object once its status has been written."""

    type: str
    """Normal or Warning."""
    reason: str
    message: str


class Removal(NamedTuple):
    """A child that holds data and is to go all the same."""

    child: Resource
    reason: str


class Deed(NamedTuple):
    """One write to a child that was carried out or, with a *refusal*, was not."""

    verb: str
    """created, deleted or updated."""
    child: Resource
    """As it was before an update or a deletion."""
    patch: Mapping[str, Any] = {}
    """Of an update."""
    refusal: str = ""
    owner: str = ""
    """The name of the object it was done for."""


class Ending(NamedTuple):
    """The object itself is to go."""

    propagation: str = "Background"
    grace: int | None = None


@dataclass(frozen=True)
class Decision:
    """What should be. A child that is not listed will be deleted unless it holds data."""

    status: Value | dict[str, Any] | None
    children: tuple[Resource, ...] = ()
    removals: tuple[Removal, ...] = ()
    notes: tuple[Note, ...] = ()
    asides: tuple[Note, ...] = ()
    """Events to record although nothing was written; those of the last look are not repeated."""
    counts_only: bool = False
    """Nothing in the status is new but numbers that go on changing: it is written a moment later."""
    check_again: float | None = None
    """Seconds until the next look, where time itself would change the answer."""
    unhurried: float = 0
    """Seconds in which whatever happens may wait: nobody does for what would be decided then."""
    glance: float | None = None
    """Seconds until a look nobody waits for, to see how far something is; later where there are many."""
    finalizers: tuple[str, ...] | None = None
    """The finalizers the object should have; None leaves them alone."""
    needs: tuple[Resource, ...] = ()
    """Made before the children if they are not there, and owned by nobody: claims outlive their users."""
    afterwards: tuple[Resource, ...] = ()
    """The same, made when the children are: nobody waits for them."""
    changes: tuple[Update, ...] = ()
    """Patches of objects as they were seen, whoever owns them: adoption, release, finalizers of children."""
    tokens: tuple[Token, ...] = ()
    """Secrets of the object, each with a text nobody can guess under its key, made where they are missing."""
    calls: tuple[HttpCall, ...] = ()
    """Made after the children are written; the status waits until all of them were heard."""
    ending: Ending | None = None


@dataclass(frozen=True)
class Update:
    observed: Resource
    patch: dict[str, Any]
    """A JSON merge patch."""


@dataclass(frozen=True)
class Plan:
    create: tuple[Resource, ...] = ()
    update: tuple[Update, ...] = ()
    delete: tuple[Resource, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.create or self.update or self.delete)


def nothing_related(_: Any) -> tuple[Ref | Selection, ...]:
    return ()


def nothing_asked(_: Any, __: Snapshot) -> tuple[Question, ...]:
    return ()


def refusals_only(deed: Deed) -> Note | None:
    """What a user must hear of any controller: a child it could not make or change."""
    if not deed.refusal:
        return None
    reason = "FailedCreate" if deed.verb == "created" else "FailedUpdate"
    return Note("Warning", reason, f"{deed.child.kind} {deed.child.name}: {deed.refusal}")


@dataclass(frozen=True)
class Controller:
    """One line of the table of contents: a kind, what it owns, what it reads, how it decides."""

    name: str
    kind: type[Resource]
    reconcile: Callable[[Any, Snapshot], Decision]
    owns: tuple[type[Resource], ...] = ()
    reads: tuple[type[Resource], ...] = ()
    """Kinds of related objects; a change of one wakes the objects that are related to it."""
    related: Callable[[Any], tuple[Ref | Selection, ...]] = nothing_related
    asks: Callable[[Any, Snapshot], tuple[Question, ...]] = nothing_asked
    patches: tuple[type[Resource], ...] = ()
    """Kinds of related objects that decisions change."""
    keeps_tokens: bool = False
    """Whether decisions have tokens made, or ask with one, or ask about Secrets."""
    hears_warnings: bool = False
    """Whether decisions ask for the warnings about pods."""
    while_deleting: bool = False
    """Also decide for objects that are being deleted (they hold one of our finalizers)."""
    tells: Callable[[Deed], Note | None] = refusals_only
    """The event of a write to a child, if it is worth one."""
    component: str = ""
    """Who the events say they are from; empty: paddlecloud-NAME."""


def plan(observed: Iterable[Resource], decision: Decision) -> Plan:
    """The smallest set of writes that turns *observed* into what was decided."""
    observed = tuple(observed)
    gone = {identity(r.child) for r in decision.removals}
    # One that is handed back as it was seen, as the thousand pods of a run are, is not compared.
    seen, back = {id(c) for c in observed}, {id(c) for c in decision.children}
    named = {c.name for c in decision.children if id(c) not in seen} | {key.name for _, _, key in gone}
    have = {identity(c): c for c in observed if id(c) not in back or c.name in named}
    want = {identity(c): c for c in decision.children if id(c) not in seen or c.name in named}
    updates = (
        Update(have[key], patch)
        for key, child in want.items()
        if key in have
        and child is not have[key]
        and not child.immutable
        and (patch := difference(have[key], child))
    )
    leaving = {
        key: c
        for key, c in have.items()
        if (key in gone or (key not in want and not c.holds_data)) and c.metadata.deletion_timestamp is None
    }
    # Seldom any: an older sight of one that is handed back is no other object.
    kept = {identity(c) for c in decision.children} - gone if leaving else set()
    return Plan(
        create=tuple(c for key, c in want.items() if key not in have),
        update=tuple(updates),
        delete=tuple(c for key, c in leaving.items() if key not in kept),
    )


def identity(child: Resource) -> tuple[str, str, Key]:
    return child.api_version, child.kind, child.key


# Maps that a controller owns as a whole: a key that is no longer wanted must go.
WHOLE_MAPS = ("data", "selector", "matchLabels")


def difference(observed: Resource, wanted: Resource) -> dict[str, Any]:
    """The merge patch that gives *observed* everything *wanted* says; what it does not say stays."""
    want, have = wanted.wire(), observed.wire()
    meta = want.get("metadata", {})
    want["metadata"] = {k: v for k, v in meta.items() if k in ("labels", "annotations")}
    want.pop("status", None)
    return merge_patch(have, want)


def merge_patch(have: dict[str, Any], want: dict[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    for key, value in want.items():
        if isinstance(value, dict) and isinstance(have.get(key), dict):
            inner = merge_patch(have[key], value)
            if key in WHOLE_MAPS:
                inner |= {k: None for k in have[key] if k not in value}
            if inner:
                patch[key] = inner
        elif not same(have.get(key), value):
            patch[key] = value
    return patch


EMPTY: tuple[Any, ...] = (None, "", [], {})


def same(have: Any, want: Any) -> bool:
    """Equal, but for what a server added to the items of a list, and for empty values it left out."""
    if have in EMPTY and want in EMPTY:
        return True
    if isinstance(want, dict) and isinstance(have, dict | None):
        return all(same((have or {}).get(k), v) for k, v in want.items())
    if isinstance(have, list) and isinstance(want, list):
        return len(have) == len(want) and all(map(same, have, want))
    return bool(have == want)
