"""The model hub for programs: push a version, move an alias, read the ledger."""

from __future__ import annotations

from contextlib import suppress

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
from ..controllers.model import number
from ..errors import AlreadyExists, Conflict
from .client import Client

TRIES = 20


def add_version(
    client: Client, model: Key, source: ModelSource, *, lineage: Lineage, metrics: dict[str, float]
) -> ModelVersion:
    """A new version with the next free number; the Model itself is made when it is the first."""
    with suppress(AlreadyExists):
        client.create(Model(metadata=Metadata(name=model.name, namespace=model.namespace), spec=ModelSpec()))
    for _ in range(TRIES):
        following = 1 + max((number(v.name) for v in versions(client, model)), default=0)
        version = ModelVersion(
            metadata=Metadata(name=f"{model.name}-{following}", namespace=model.namespace),
            spec=ModelVersionSpec(
                model=model.name, version=f"v{following}", source=source, lineage=lineage, metrics=metrics
            ),
        )
        try:
            return client.create(version)
        except AlreadyExists:
            continue  # somebody else took the number
    raise Conflict(f"no number was free for a new version of {model}; too many writers at once")


def move_alias(client: Client, model: Key, alias: str, to: str, *, why: str = "") -> AliasChange:
    """Point *alias* to *to*, as the user the API knows us for.

    The ledger's next line is the only write: of two movers one gets `Conflict`.
    """
    ledger = changes(client, model, alias)
    before = ledger[-1].spec.to if ledger else ""
    following = 1 + (number(ledger[-1].name) if ledger else 0)
    change = AliasChange(
        metadata=Metadata(name=f"{model.name}-{alias}-{following}", namespace=model.namespace),
        spec=AliasChangeSpec(model=model.name, alias=alias, from_=before, to=to, why=why, by=client.whoami()),
    )
    try:
        return client.create(change)
    except AlreadyExists as error:
        raise Conflict(
            f"alias {alias} of {model.name} was moved by somebody else at the same moment",
            next_step="look where it points now, and move it again if that is still wanted",
        ) from error


def versions(client: Client, model: Key) -> list[ModelVersion]:
    found = client.list(ModelVersion, model.namespace).items
    return sorted((v for v in found if v.spec.model == model.name), key=lambda v: number(v.name))


def changes(client: Client, model: Key, alias: str) -> list[AliasChange]:
    """The ledger of one alias, oldest first."""
    found = client.list(AliasChange, model.namespace).items
    mine = [c for c in found if (c.spec.model, c.spec.alias) == (model.name, alias)]
    return sorted(mine, key=lambda c: number(c.name))
