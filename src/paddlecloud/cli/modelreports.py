"""`pdc model diff` and `lineage`: versions beside each other, and where one comes from and went."""

from __future__ import annotations

import json
from typing import Any

import click
import yaml

from ..sdk import hub
from ..sdk.ancestry import lineage_of
from ..sdk.comparing import as_wire, compare
from .context import Settings, namespace_option, pass_settings
from .output import lay_out

form_option = click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table")


@click.command()
@click.argument("left", metavar="NAME@A")
@click.argument("right", metavar="NAME@B")
@form_option
@namespace_option
@pass_settings
def diff(settings: Settings, /, left: str, right: str, namespace: str, output: str) -> None:
    """What differs between two versions: files, signature, metrics side by side, lineage."""
    if "@" not in right and "@" in left:
        right = f"{left.partition('@')[0]}@{right}"
    with settings.connect() as client:
        a, b = (hub.find_version(client, namespace, reference) for reference in (left, right))
    if output != "table":
        echo(as_wire(a, b), output)
        return
    found = [[row.part, row.name, row.left or "-", row.right or "-"] for row in compare(a, b)]
    lay_out([["", "", a.name, b.name], *found])


@click.command()
@click.argument("reference", metavar="NAME[@ALIAS|@VERSION]")
@form_option
@namespace_option
@pass_settings
def lineage(settings: Settings, /, reference: str, namespace: str, output: str) -> None:
    """Where a version comes from (data, job, run, code) and who uses it (aliases, services)."""
    with settings.connect() as client:
        found = hub.find_version(client, namespace, reference)
        links = lineage_of(client, found)
    if output != "table":
        echo({"version": found.name, "links": [link._asdict() for link in links]}, output)
        return
    click.echo(f"{namespace}/{found.name} ({found.spec.version})")
    if links:
        lay_out([[f"  {link.relation}", link.what, link.name, link.state] for link in links])


def echo(body: Any, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        click.echo(yaml.safe_dump(body, sort_keys=False, allow_unicode=True).rstrip())
