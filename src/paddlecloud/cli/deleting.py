"""`pdc delete`: objects go, and the command ends when they are gone.

All that is to go is asked for first, then waited for: what takes long to end ends side by side.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from ..api.meta import Key
from ..cluster import requests
from ..cluster.requests import Place, Scope
from ..errors import NotFound, TimedOut, WrongUse
from ..sdk.client import Client
from ..sdk.discovery import Served, holder, served
from ..sdk.waiting import bodies, waits_for
from . import manifests
from .context import Settings, namespace_option, pass_settings
from .objects import meant, synonym

MOMENT = 2.0
"""Seconds after which somebody who waits wants to know for what."""


class Target(NamedTuple):
    shown: str
    place: Place
    key: Key
    uid: str
    """Only this one is waited for: its name may be given again at once."""


@click.command()
@click.argument("kind", required=False, default="")
@click.argument("names", nargs=-1)
@manifests.files_option(required=False)
@namespace_option
@click.option("-l", "--selector", default="", help="All objects of the kind with these labels.")
@click.option("--all", "everything", is_flag=True, help="All objects of the kind in the namespace.")
@click.option("--ignore-not-found", is_flag=True, help="What is not there is no mistake.")
@click.option("--wait/--no-wait", "waits", default=True, show_default=True, help="Wait until they are gone.")
@click.option("--timeout", type=float, default=300.0, show_default=True, help="Seconds to wait.")
@pass_settings
def delete(
    settings: Settings,
    kind: str,
    names: tuple[str, ...],
    files: tuple[str, ...],
    namespace: str,
    selector: str,
    everything: bool,
    ignore_not_found: bool,
    waits: bool,
    timeout: float,
) -> None:
    """Delete objects: `pdc delete job resnet`, `pdc delete job/resnet`, `pdc delete -f job.yaml`."""
    kind, _, inline = kind.partition("/")
    wanted = (*((inline,) if inline else ()), *names)
    ways = (bool(wanted), bool(files), bool(selector or everything))
    if ways.count(True) != 1 or bool(files) == bool(kind):
        raise WrongUse("name what is to be deleted: pdc delete KIND NAME, KIND -l LABELS, or -f FILE")
    bodies = manifests.read(files)
    with settings.connect() as client:
        kinds = served(client)
        if files:
            targets = from_files(client, kinds, bodies, namespace)
        elif wanted:
            targets = by_name(client, kinds, kind, wanted, namespace)
        else:
            targets = by_labels(client, kinds, kind, Scope(namespace, labels=selector))
        asked = list(asked_to_go(client, targets, ignore_not_found))
        deadline = time.monotonic() + timeout
        for target in asked if waits else ():
            until_gone(client, target, deadline, timeout)
    if not asked:
        click.echo("nothing to delete", err=True)


def asked_to_go(client: Client, targets: Iterator[Target | NotFound], lenient: bool) -> Iterator[Target]:
    """What was asked to go; raises the first `NotFound` once all the others have been asked."""
    missing: NotFound | None = None
    for target in targets:
        if isinstance(target, NotFound):
            missing = missing or target
            continue
        try:
            client.delete(target.place, target.key, uid=target.uid)
        except NotFound:
            continue  # it went by itself between two requests
        click.echo(f"{target.shown} deleted")
        yield target
    if missing and not lenient:
        raise missing


def by_name(
    client: Client, kinds: list[Served], typed: str, names: Iterable[str], namespace: str
) -> Iterator[Target | NotFound]:
    meant(kinds, typed)  # a kind that does not exist is a mistake whatever is ignored
    for name in names:
        try:
            kind, body = holder(client, kinds, synonym(typed), Key(namespace, name))
        except NotFound as error:
            yield error
            continue
        yield target(kind, body, f"{typed}/{name}")


def by_labels(client: Client, kinds: list[Served], typed: str, scope: Scope) -> Iterator[Target]:
    for kind in meant(kinds, typed):
        inside = scope if kind.namespaced else Scope("", labels=scope.labels)
        for body in client.list_raw(kind.place, inside).items:
            yield target(kind, body, f"{typed}/{body['metadata']['name']}")


def from_files(
    client: Client, kinds: list[Served], bodies: Iterable[manifests.Manifest], namespace: str
) -> Iterator[Target | NotFound]:
    for body in bodies:
        kind = manifests.exactly(kinds, body)
        key = manifests.key_of(kind, body, namespace)
        try:
            found = client.request(requests.get(kind.place, key))
        except NotFound as error:
            yield error
            continue
        yield target(kind, found, f"{kind.kind.lower()}/{key.name}")


def target(kind: Served, body: manifests.Manifest, shown: str) -> Target:
    metadata = body["metadata"]
    return Target(shown, kind.place, Key(metadata.get("namespace") or "", metadata["name"]), metadata["uid"])


def until_gone(client: Client, target: Target, deadline: float, timeout: float) -> None:
    """Returns when the object is gone; what takes longer than a moment says what it waits for."""
    moment = min(deadline, time.monotonic() + MOMENT)
    last = still_there(client, target, moment)
    if last and moment < deadline:
        click.echo(f"{target.shown} goes when {obstacle(last)}", err=True)
        last = still_there(client, target, deadline)
    if last:
        raise TimedOut(
            f"{target.shown} is still there after {timeout:g} s; it goes when {obstacle(last)}",
            next_step=f"pdc why {target.shown}; --no-wait does not wait",
        )


def still_there(client: Client, target: Target, deadline: float) -> manifests.Manifest | None:
    """The object as it was at the deadline; None as soon as it is gone."""
    last: manifests.Manifest | None = None
    try:
        for body in bodies(client, target.place, target.key, deadline):
            if body["metadata"]["uid"] != target.uid:
                return None
            last = body
    except NotFound:
        return None
    return last


def obstacle(body: manifests.Manifest) -> str:
    """What has yet to happen before an object goes, as far as it says."""
    if told := waits_for(body.get("status") or {}):
        return f"it no longer waits ({told})"
    holding = body["metadata"].get("finalizers") or ()
    return f"{', '.join(holding)} let it go" if holding else "its containers have ended"
