"""Built-in kinds that are the objects of another in other words: events of two groups, two autoscalers.

An object is kept once, in the form of one kind (`Kind.kept` names it); whoever asks for the other kind gets
it translated, and what they write is translated before it is checked. There and back again changes nothing
that the kept form can say. Pure.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..store import Entry
from . import facts, views_autoscalers, views_events
from .kinds import Kind
from .schema import Violation

Body = dict[str, Any]
Check = Callable[[Body, Body | None], Iterator[Violation]]


@dataclass(frozen=True)
class View:
    shown: Callable[[Body], Body]
    """From the kept form into the words of this kind; `apiVersion` and `kind` are put in elsewhere."""
    kept: Callable[[Body], Body]
    """And back."""
    check: Check | None = None
    """What may not be written through this kind, in the kept form; otherwise the rules of the kept kind."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Selectable fields of this kind, and what they are in the kept form."""


VIEWS: Mapping[str, View] = {
    "events.k8s.io/v1": View(
        views_events.shown, views_events.kept, views_events.check, views_events.SELECTABLE
    ),
    "autoscaling/v1": View(views_autoscalers.shown, views_autoscalers.kept),
}


def view_of(kind: Kind) -> View | None:
    return VIEWS[kind.api_version] if kind.kept else None


@functools.cache
def kept_kind(kind: Kind) -> Kind:
    """The kind in whose form the objects of *kind* are kept: mostly itself."""
    if not kind.kept:
        return kind
    return next(k for k in facts.kinds() if not k.kept and k.resource == kind.resource)


def shown(kind: Kind, body: Body) -> Body:
    """A kept body as *kind* says it; the body itself where the kind is kept as it is."""
    view = view_of(kind)
    if view is None:
        return body
    rest = {k: v for k, v in view.shown(body).items() if k not in ("apiVersion", "kind")}
    return {"apiVersion": kind.api_version, "kind": kind.kind, **rest}


def shown_entry(kind: Kind, entry: Entry) -> Entry:
    return Entry(entry.place, entry.revision, orjson.dumps(shown(kind, entry.load())))


def to_keep(kind: Kind, body: Body) -> Body:
    """What was written as *kind*, in the form that is kept."""
    view = view_of(kind)
    if view is None:
        return body
    own = kept_kind(kind)
    rest = {k: v for k, v in view.kept(body).items() if k not in ("apiVersion", "kind")}
    return {"apiVersion": own.api_version, "kind": own.kind, **rest}
