"""`pdc scale`: how many there should be, of whatever can be counted."""

from __future__ import annotations

import click

from ..api.meta import Key
from ..cluster import requests
from ..errors import NotFound, WrongUse
from ..sdk.discovery import holder, served
from .context import Settings, namespace_option, pass_settings
from .objects import parts, synonym


@click.command()
@click.argument("target", metavar="KIND/NAME")
@click.option("--replicas", type=click.IntRange(0), required=True, help="Workers of a job, pods of others.")
@namespace_option
@pass_settings
def scale(settings: Settings, target: str, replicas: int, namespace: str) -> None:
    """Change how many pods an object has: `pdc scale job/NAME --replicas 3`, of an elastic job."""
    typed, name = parts(target)
    with settings.connect() as client:
        kind, _ = holder(client, served(client), synonym(typed), Key(namespace, name))
        key = Key(namespace if kind.namespaced else "", name)
        try:
            client.request(requests.scaling(kind.place, key, replicas))
        except NotFound as error:
            raise WrongUse(f"{kind.kind} {name} cannot be scaled: {error.message}") from error
    click.echo(f"{target} scaled to {replicas}")
