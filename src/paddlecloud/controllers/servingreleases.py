"""From one release to the next: which revisions a PaddleService has, and who gets which requests; pure.

A Knative Service has room for one template at a time, so revisions are asked for one after the other, the
default first. What answers goes on answering until the one that takes its place is ready: traffic names
revisions, never "the latest".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..api.knative import KnativeService, Revision
from ..api.paddleservice import Share
from .servingtemplates import digest_on

DEFAULT, CANARY = "default", "canary"
HALF = 50
LENGTHS = (5, 12, 40)
Body = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A revision that should be."""

    role: str
    name: str
    template: Body


@dataclass(frozen=True)
class Answering:
    """The revisions that have the two roles now; empty: none."""

    default: str = ""
    canary: str = ""


def known_templates(inner: KnativeService | None, revisions: Iterable[Revision]) -> dict[str, str]:
    """The digests of the templates by revision name: of those there are, and of the one asked for last."""
    known = {}
    template = (inner.spec.get("template") or {}) if inner else {}
    if name := str((template.get("metadata") or {}).get("name") or ""):
        known[name] = digest_on(template)
    for revision in revisions:
        going = revision.metadata.deletion_timestamp is not None
        known[revision.name] = (
            "" if going else digest_on({"metadata": {"annotations": revision.metadata.annotations}})
        )
    return known


def named(service: str, role: str, template: Body, known: Mapping[str, str]) -> Wanted:
    """The revision with this template: the one there is, else a name that nobody has had."""
    digest, plain = digest_on(template), f"{service}-{role}"
    equal = sorted((name for name, other in known.items() if other == digest), key=lambda n: (n != plain, n))
    fresh = (plain, *(f"{plain}-{digest[:length]}" for length in LENGTHS))
    name = equal[0] if equal else next(n for n in fresh if n not in known or n == fresh[-1])
    body = {**template, "metadata": {"name": name, **template["metadata"]}}
    return Wanted(role, name, body)


def next_template(inner: KnativeService | None, wanted: Sequence[Wanted], there: Iterable[str]) -> Body:
    """The template to ask for now: of the first revision that is not there, else the one asked for last."""
    existing = set(there)
    missing = next((w for w in wanted if w.name not in existing), None)
    current: Body = (inner.spec.get("template") or {}) if inner else {}
    asked = (current.get("metadata") or {}).get("name")
    chosen = missing or next((w for w in wanted if w.name == asked), wanted[0])
    return replacing(current, chosen.template) if chosen.name != asked else chosen.template


def replacing(current: Body, template: Body) -> Body:
    """The template with nulls for what only the current one says: patches add, and this one replaces."""
    gone = {key: None for key in current if key not in template}
    inner = {
        key: replacing(current[key], value)
        for key, value in template.items()
        if isinstance(value, dict) and isinstance(current.get(key), dict)
    }
    return {**template, **inner, **gone}


def answering(before: Answering, wanted: Sequence[Wanted], ready: Iterable[str]) -> Answering:
    """Who has the roles once everybody who is ready has taken over."""
    up = set(ready)
    roles = {w.role: w.name for w in wanted}
    default = roles[DEFAULT]
    # The very first one has nobody to wait for.
    heir = default if default in up or not before.default else before.default
    canary = roles.get(CANARY, "")
    if not canary:
        return Answering(heir)
    return Answering(heir, canary if canary in up else before.canary)


def shares(now: Answering, percent: int | None) -> list[Share]:
    """The canary keeps an address of its own (its tag) however small its share."""
    part = HALF if percent is None else percent
    if not now.canary or now.canary == now.default:
        return [Share(revision_name=now.default, percent=100)]
    return [
        Share(revision_name=now.default, percent=100 - part),
        Share(revision_name=now.canary, percent=part, tag=CANARY),
    ]


def traffic_block(split: Iterable[Share]) -> list[Body]:
    return [{**share.wire(), "latestRevision": False} for share in split]
