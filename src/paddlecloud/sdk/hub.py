"""The model hub for programs: add a version, find one, move an alias, read the ledger.

NAME            what the alias latest means
NAME@ALIAS      what an alias means now
NAME@VERSION    a version by its object's name (NAME-3), its number (3) or its free text (v1.2)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from ..api.meta import Key, Metadata
from ..api.model import (
    AliasChange,
    AliasChangeSpec,
    Lineage,
    Model,
    ModelSource,
    ModelSpec,
    ModelVersion,
    ModelVersionSpec,
)  # fmt: skip
from ..controllers.model import meant_by, number
from ..errors import AlreadyExists, Conflict, Failed, NotFound, WrongUse
from .client import Client

TRIES = 20
LATEST = "latest"
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?")
"""Names of models and aliases are parts of names of objects, which have 63 characters at most."""


@dataclass(frozen=True)
class About:
    """What is said of a new version besides its files."""

    version: str = ""
    """Free text for people; the number of the version when it is empty."""
    format: str = "paddle"
    lineage: Lineage = field(default_factory=Lineage)
    metrics: dict[str, float] = field(default_factory=dict)


def checked_name(name: str, what: str) -> str:
    """Raises `WrongUse` for a name no object can have."""
    if not NAME.fullmatch(name):
        raise WrongUse(
            f"{name!r} cannot be the name of {what}",
            next_step="use up to 52 small letters, digits and, between them, dashes",
        )
    return name


def add_version(client: Client, model: Key, source: ModelSource, about: About) -> ModelVersion:
    """A new version with the next free number; the Model itself is made when it is the first.

    The same files pushed again under the same text are the version they became before. Raises
    `AlreadyExists` when another version has that text.
    """
    checked_name(model.name, "a model")
    with suppress(AlreadyExists):
        client.create(Model(metadata=Metadata(name=model.name, namespace=model.namespace), spec=ModelSpec()))
    for _ in range(TRIES):
        there = versions(client, model)
        if found := same_push(there, source, about):
            return found
        refuse_taken(there, about.version)
        made = next_version(model, there, source, about)
        try:
            return client.create(made)
        except AlreadyExists:
            continue  # somebody else took the number
    raise Conflict(f"no number was free for a new version of {model}; too many writers at once")


def next_version(
    model: Key, there: Sequence[ModelVersion], source: ModelSource, about: About
) -> ModelVersion:
    following = 1 + max((number(v.name) for v in there), default=0)
    return ModelVersion(
        metadata=Metadata(name=f"{model.name}-{following}", namespace=model.namespace),
        spec=ModelVersionSpec(
            model=model.name,
            version=about.version or f"v{following}",
            source=source,
            format=about.format,
            lineage=about.lineage,
            metrics=about.metrics,
        ),
    )


def same_push(there: Sequence[ModelVersion], source: ModelSource, about: About) -> ModelVersion | None:
    """The version that the same push made before: of one that was cut off, or was typed twice."""
    if not source.uri:
        return None
    same = (v for v in there if v.spec.source.uri == source.uri and v.status.phase != "Failed")
    return next((v for v in same if about.version in ("", v.spec.version)), None)


def refuse_taken(there: Sequence[ModelVersion], text: str) -> None:
    taken = next((v for v in there if text and text in (v.spec.version, v.name)), None)
    if taken is not None:
        raise AlreadyExists(
            f"version {text} of model {taken.spec.model} exists with other files: {taken.name}",
            next_step="a version never changes: push under another --version",
        )


def move_alias(client: Client, model: Key, alias: str, to: str, *, why: str = "") -> AliasChange:
    """Point *alias* to *to*, as the user the API knows us for.

    The ledger's next line is the only write: of two movers one gets `AlreadyExists`.
    """
    checked_name(alias, "an alias")
    ledger = changes(client, model, alias)
    before = ledger[-1].spec.to if ledger else ""
    following = 1 + (number(ledger[-1].name) if ledger else 0)
    spec = AliasChangeSpec(model=model.name, alias=alias, from_=before, to=to, why=why, by=client.whoami())
    for count in range(following, following + TRIES):
        name = f"{model.name}-{alias}-{count}"
        change = AliasChange(metadata=Metadata(name=name, namespace=model.namespace), spec=spec)
        try:
            return client.create(change)
        except AlreadyExists as error:
            first = client.get(AliasChange, model.namespace, name).spec
            # `a-b` of model m and `b` of model m-a have lines of one name: the other's is passed over.
            if (first.model, first.alias) != (model.name, alias):
                continue
            raise AlreadyExists(
                f"alias {alias} of {model.name} was moved to {first.to} by {first.by or 'somebody else'} "
                "at the same moment",
                next_step="look where it points now, and move it again if that is still wanted",
            ) from error
    raise Conflict(f"no line of the ledger of alias {alias} of {model.name} was free")


def rollback(client: Client, model: Key, alias: str, *, why: str = "") -> AliasChange:
    """Point *alias* to what it pointed to before its last move."""
    ledger = changes(client, model, alias)
    if not ledger:
        raise no_alias(client, model, alias)
    last = ledger[-1].spec
    if not last.from_:
        raise Failed(
            f"alias {alias} of {model.name} has pointed to {last.to} only: there is nothing to go back to",
            next_step=f"move it: pdc model alias {model.name} {alias} VERSION",
        )
    version = client.find(ModelVersion, model.namespace, last.from_)
    if version is None:
        raise Failed(
            f"{last.from_}, where alias {alias} of {model.name} was before, is deleted",
            next_step=f"choose another: pdc model ls {model.name}",
        )
    return move_alias(client, model, alias, last.from_, why=why or f"rollback from {last.to}")


def find_version(client: Client, namespace: str, reference: str) -> ModelVersion:
    """The version a reference means. Raises `NotFound` with what there is."""
    name, _, wanted = reference.partition("@")
    model = Key(namespace, name)
    there = versions(client, model)
    if not there and client.find(Model, namespace, name) is None:
        known = ", ".join(m.name for m in client.list(Model, namespace).items) or "none"
        raise NotFound(
            f"there is no model {name} in namespace {namespace}; there are: {known}",
            next_step=f"push one: pdc model push DIR --name {name}",
        )
    ledger = changes(client, model, wanted or LATEST)
    meant = ledger[-1].spec.to if ledger else wanted
    found = meant_by(there, meant)
    if found is None:
        raise no_alias(client, model, wanted or LATEST)
    return found


def no_alias(client: Client, model: Key, wanted: str) -> NotFound:
    aliases = sorted({c.spec.alias for c in ledger_of(client, model)})
    names = [v.name for v in versions(client, model)]
    return NotFound(
        f"model {model.name} has no alias and no version {wanted}; "
        f"aliases: {', '.join(aliases) or 'none'}; versions: {', '.join(names[-5:]) or 'none'}",
        next_step=f"see all: pdc model ls {model.name}",
    )


def alias_at(client: Client, model: Key, alias: str, moment: datetime) -> AliasChange:
    """What an alias pointed to at *moment*, since when, by whom and why; raises `NotFound`."""
    ledger = changes(client, model, alias)
    if not ledger:
        raise no_alias(client, model, alias)
    held = at(ledger, moment)
    if held is None:
        first = ledger[0].metadata.creation_timestamp
        raise NotFound(
            f"alias {alias} of {model.name} pointed to nothing yet at {clock(moment)}",
            next_step=f"its first line is of {clock(first)}" if first else "",
        )
    return held


def clock(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def at(ledger: Sequence[AliasChange], moment: datetime) -> AliasChange | None:
    """The line of the ledger that held at *moment*; pure."""
    before = [c for c in ledger if (made := c.metadata.creation_timestamp) and made <= moment]
    return before[-1] if before else None


def versions(client: Client, model: Key) -> list[ModelVersion]:
    found = client.list(ModelVersion, model.namespace).items
    return sorted((v for v in found if v.spec.model == model.name), key=lambda v: number(v.name))


def changes(client: Client, model: Key, alias: str) -> list[AliasChange]:
    """The ledger of one alias, oldest first."""
    return [c for c in ledger_of(client, model) if c.spec.alias == alias]


def ledger_of(client: Client, model: Key) -> list[AliasChange]:
    """The ledger of a model, oldest first."""
    found = [c for c in client.list(AliasChange, model.namespace).items if c.spec.model == model.name]
    return sorted(found, key=lambda c: (number(c.name), c.spec.alias))


def aliases_now(ledger: Sequence[AliasChange]) -> dict[str, str]:
    return {c.spec.alias: c.spec.to for c in ledger}
