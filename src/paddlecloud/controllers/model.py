"""Sums up a Model: its versions, and where each alias points according to the ledger; pure.

The ledger is the only truth about aliases: of all AliasChanges of an alias the one with the highest
number counts, and nothing else ever moves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..api.model import AliasChange, Model, ModelPhase, ModelStatus, ModelVersion
from .contract import Controller, Decision, Ref, Selection, Snapshot


def reconcile(model: Model, seen: Snapshot) -> Decision:
    versions = [v for v in seen.all(ModelVersion) if v.spec.model == model.name]
    ready = [v for v in versions if v.status.phase is ModelPhase.READY]
    return Decision(
        ModelStatus(
            aliases=aliases(c for c in seen.all(AliasChange) if c.spec.model == model.name),
            latest_version=max((v.name for v in ready), key=number, default=""),
            versions=len(versions),
        )
    )


def related(model: Model) -> tuple[Ref | Selection, ...]:
    return (Selection(ModelVersion, model.namespace), Selection(AliasChange, model.namespace))


CONTROLLER = Controller("model", Model, reconcile, reads=(ModelVersion, AliasChange), related=related)


def aliases(ledger: Iterable[AliasChange]) -> dict[str, str]:
    return {change.spec.alias: change.spec.to for change in sorted(ledger, key=lambda c: number(c.name))}


def number(name: str) -> int:
    """The count at the end of `<model>-<n>` and `<model>-<alias>-<n>`."""
    last = name.rpartition("-")[2]
    return int(last) if last.isdigit() else 0


def resolve(reference: str, model: Model | None, versions: Iterable[ModelVersion]) -> str:
    """The version of *versions* that `name@alias` or `name@version` means, or an empty text.

    A name alone means the alias `latest`.
    """
    if model is None:
        return ""
    name, _, wanted = reference.partition("@")
    if alias := model.status.aliases.get(wanted or "latest"):
        return alias
    there = sorted((v for v in versions if v.spec.model == name), key=lambda v: number(v.name))
    found = meant_by(there, wanted)
    # One by its full name is waited for: it may be on its way.
    return found.name if found else wanted if wanted.startswith(f"{name}-") else ""


def meant_by(there: Sequence[ModelVersion], text: str) -> ModelVersion | None:
    """By name, by number, by free text; the newest where several have the same."""
    for same in (
        lambda v: v.name == text,
        lambda v: text.isdecimal() and number(v.name) == int(text),
        lambda v: bool(text) and v.spec.version == text,
    ):
        if found := [v for v in there if same(v)]:
            return found[-1]
    return None
