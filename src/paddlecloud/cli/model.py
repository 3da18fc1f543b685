"""`pdc model`: models, their versions and their aliases; each an object that kubectl shows too."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from ..api.meta import Key
from ..api.model import AliasChange, Model, ModelVersion
from ..cluster.requests import Scope
from ..errors import NotFound, WrongUse
from ..sdk import hub
from ..sdk.modelgarbage import remove_version
from ..sizes import size as human
from .context import Settings, namespace_option, pass_settings
from .data import dry_option, form_option, show_object
from .modelfiles import convert, gc, publish, pull, push
from .modelreports import diff, lineage
from .moments import moment_of
from .output import lay_out, print_objects


@click.group()
def model() -> None:
    """Models: push, list, compare, move aliases, roll back, pull, convert."""


for more in (push, pull, convert, publish, gc, diff, lineage):
    model.add_command(more)


@model.command("ls")
@click.argument("name", required=False)
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table")
@namespace_option
@pass_settings
def list_models(settings: Settings, /, name: str | None, namespace: str, output: str) -> None:
    """The models of a namespace, or the versions of NAME with their metrics side by side."""
    with settings.connect() as client:
        if output != "table":
            kind: type[Model | ModelVersion] = ModelVersion if name else Model
            items = client.list_raw(kind, Scope(namespace)).items
            print_objects([i for i in items if not name or i["spec"]["model"] == name], output, single=False)
            return
        if name is None:
            lay_out(model_rows(list(client.list(Model, namespace).items)))
            return
        versions = hub.versions(client, Key(namespace, name))
        if not versions:
            raise NotFound(f"there is no version of a model {name} in namespace {namespace}",
                           next_step=f"push one: pdc model push DIR --name {name}")  # fmt: skip
        lay_out(version_rows(versions, hub.aliases_now(hub.ledger_of(client, Key(namespace, name)))))


def model_rows(models: list[Model]) -> list[list[str]]:
    rows = [["NAME", "VERSIONS", "LATEST", "ALIASES"]]
    for found in models:
        status = found.status
        aliases = ", ".join(f"{name}={to}" for name, to in sorted(status.aliases.items()))
        rows.append([found.name, str(status.versions), status.latest_version, aliases])
    return rows


def version_rows(versions: list[ModelVersion], aliases: dict[str, str]) -> list[list[str]]:
    """One column a metric, so that versions stand side by side."""
    metrics = sorted({name for v in versions for name in v.spec.metrics})
    rows = [["VERSION", "TEXT", "PHASE", "FORMAT", "SIZE", *(m.upper() for m in metrics), "ALIASES"]]
    for v in versions:
        numbers = [f"{v.spec.metrics[m]:g}" if m in v.spec.metrics else "" for m in metrics]
        pointing = ", ".join(sorted(name for name, to in aliases.items() if to == v.name))
        form = "+".join([v.spec.format, *(c.format for c in v.status.conversions if c.exact)])
        size = human(v.status.size) if v.status.size else ""
        rows.append([v.name, v.spec.version, v.status.phase.value, form, size, *numbers, pointing])
    return rows


@model.command()
@click.argument("reference", metavar="NAME[@ALIAS|@VERSION]")
@form_option
@namespace_option
@pass_settings
def show(settings: Settings, /, reference: str, namespace: str, output: str | None) -> None:
    """One version: files, signature, conversions, metrics."""
    with settings.connect() as client:
        found = hub.find_version(client, namespace, reference)
        aliases = hub.aliases_now(hub.ledger_of(client, Key(namespace, found.spec.model)))
    if output:
        show_object(found, output)
        return
    spec, status = found.spec, found.status
    pointing = ", ".join(sorted(name for name, to in aliases.items() if to == found.name))
    lines = [
        ["version", f"{namespace}/{found.name}"],
        ["text", spec.version],
        ["phase", status.phase.value],
        ["format", spec.format],
        ["aliases", pointing],
        ["size", f"{human(status.size)} in {len(status.files)} files" if status.files else ""],
        ["metrics", ", ".join(f"{name} {value:g}" for name, value in sorted(spec.metrics.items()))],
    ]
    lay_out([line for line in lines if line[1]])
    for side, tensors in (
        (("takes", status.signature.inputs), ("gives", status.signature.outputs))
        if (status.signature)
        else ()
    ):
        for t in tensors:
            click.echo(f"  {side} {t.name}: {t.dtype}{t.shape}")
    for c in status.conversions:
        click.echo(f"  {c.format}: {'exact' if c.exact else 'not exact'}; {c.message}")
    for f in status.files:
        click.echo(f"  {f.sha256[:12]}  {human(f.size):>10}  {f.path}")
    for condition in status.conditions:
        if condition.status == "False" and condition.message:
            click.echo(f"  {condition.reason}: {condition.message}")


@model.command()
@click.argument("name")
@click.argument("alias", default=hub.LATEST)
@click.option("--at", "moment", help="What it was then: 'yesterday 14:03' or '2026-11-16 14:03'.")
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table")
@namespace_option
@pass_settings
def history(
    settings: Settings, /, name: str, alias: str, moment: str | None, namespace: str, output: str
) -> None:
    """Who moved an ALIAS of a model when, from what to what, and why."""
    when = moment_of(moment, datetime.now()) if moment else None
    model = Key(namespace, name)
    with settings.connect() as client:
        if when:
            ledger = [hub.alias_at(client, model, alias, when)]
        elif not (ledger := hub.changes(client, model, alias)):
            raise hub.no_alias(client, model, alias)
    if output != "table":
        print_objects([c.wire() for c in ledger], output, single=bool(when))
    elif when:
        line = ledger[0]
        click.echo(f"{line.spec.to} since {shown(made(line))}, by {line.spec.by}: {line.spec.why}")
    else:
        lay_out([["WHEN", "FROM", "TO", "BY", "WHY"], *map(line_of, ledger)])


def line_of(change: AliasChange) -> list[str]:
    spec = change.spec
    return [shown(made(change)), spec.from_ or "-", spec.to, spec.by, spec.why]


def made(change: AliasChange) -> datetime:
    assert change.metadata.creation_timestamp is not None, "the server sets it"
    return change.metadata.creation_timestamp


def shown(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


@model.command("alias")
@click.argument("name")
@click.argument("alias")
@click.argument("version")
@click.option("--why", default="", help="The reason, for the ledger.")
@dry_option
@namespace_option
@pass_settings
def move(settings: Settings, /, name: str, alias: str, version: str, namespace: str, **wish: Any) -> None:
    """Point ALIAS of a model to VERSION (a name, a number or its text)."""
    hub.checked_name(alias, "an alias")
    with settings.connect() as client:
        found = hub.find_version(client, namespace, f"{name}@{version}")
        if found.status.phase != "Ready":
            raise WrongUse(f"{found.name} is {found.status.phase.value}; an alias points to a version that "
                           "is Ready", next_step=f"pdc why modelversion/{found.name}")  # fmt: skip
        if wish["dry_run"]:
            click.echo(f"alias {alias} of {name} would point to {found.name}")
            return
        told(hub.move_alias(client, Key(namespace, name), alias, found.name, why=wish["why"]))


@model.command()
@click.argument("name")
@click.argument("alias")
@click.option("--why", default="", help="The reason, for the ledger.")
@namespace_option
@pass_settings
def rollback(settings: Settings, /, name: str, alias: str, why: str, namespace: str) -> None:
    """Point ALIAS of a model to what it pointed to before its last move."""
    with settings.connect() as client:
        told(hub.rollback(client, Key(namespace, name), alias, why=why))


def told(change: AliasChange) -> None:
    spec = change.spec
    before = f", before {spec.from_}" if spec.from_ else ""
    click.echo(f"{spec.model}@{spec.alias} is {spec.to}{before}")


@model.command()
@click.argument("reference", metavar="NAME@VERSION")
@dry_option
@namespace_option
@pass_settings
def rm(settings: Settings, /, reference: str, namespace: str, dry_run: bool) -> None:
    """Delete a version that no alias and no service uses; `gc` frees its files."""
    if "@" not in reference:
        raise WrongUse("a version is named NAME@VERSION", next_step=f"pdc model ls {reference}")
    with settings.connect() as client:
        found = hub.find_version(client, namespace, reference)
        if dry_run:
            click.echo(f"modelversion/{found.name} would be deleted")
            return
        remove_version(client, found)
    click.echo(f"modelversion/{found.name} deleted")
