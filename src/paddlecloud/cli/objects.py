"""`pdc get`, `why`, `wait`: what asks about objects of any kind."""

from __future__ import annotations

import time
from typing import Any

import click

from ..api.meta import Key
from ..cluster import requests
from ..cluster.requests import Place, Request, Scope
from ..errors import NotFound, TimedOut, WrongUse
from ..sdk.client import Client
from ..sdk.discovery import Served, fitting, holder, served
from ..sdk.waiting import bodies
from .context import Settings, namespace_option, output_option, pass_settings
from .output import print_objects, print_table
from .watching import TABLE, watch
from .why import explain


@click.command()
@click.argument("kind")
@click.argument("name", required=False)
@namespace_option
@click.option("-A", "--all-namespaces", is_flag=True, help="In all namespaces.")
@click.option("-l", "--selector", default="", help="Only objects with these labels.")
@click.option("-w", "--watch", "go_on", is_flag=True, help="Go on with every change, until interrupted.")
@output_option
@pass_settings
def get(
    settings: Settings,
    kind: str,
    name: str | None,
    namespace: str,
    all_namespaces: bool,
    selector: str,
    go_on: bool,
    output: str,
) -> None:
    """List objects of a KIND (`job`, `pods,services`, `all`, …) or show one."""
    kind, _, inline = kind.partition("/")
    name = name or inline or None
    with settings.connect() as client:
        kinds = served(client)
        if kind == "all":
            wanted = [k for k in kinds if "all" in k.categories]
        elif name:
            wanted = [holder(client, kinds, synonym(kind), Key(namespace, name))[0]]
        else:
            wanted = list(dict.fromkeys(k for word in kind.split(",") for k in meant(kinds, word)))
        scope = Scope("" if all_namespaces else namespace, labels=selector)
        if go_on:
            if len(wanted) > 1:
                raise WrongUse("only one kind can be watched at a time")
            fields = {"metadata.name": name} if name else None
            watch(client, wanted[0], Scope(scope.namespace, labels=selector, fields=fields), output)
            return
        shown = sum(show(client, k, name, scope, output, len(wanted) > 1) for k in wanted)
    if not shown and not name:
        click.echo(f"no {kind} found" + ("" if all_namespaces else f" in namespace {namespace}"), err=True)


def meant(kinds: list[Served], typed: str) -> list[Served]:
    """All kinds of ours with that name, which two groups may share; else the likeliest."""
    found = fitting(kinds, synonym(typed))
    return [kind for kind in found if kind.ours] or found[:1]


def synonym(kind: str) -> str:
    """What people say: job, model version, service of ours."""
    return {"job": "paddlejob", "jobs": "paddlejobs", "run": "workflowrun", "runs": "workflowruns",
            "data": "sampleset", "dataset": "sampleset"}.get(kind.lower(), kind)  # fmt: skip


def show(client: Client, kind: Served, name: str | None, scope: Scope, output: str, several: bool) -> int:
    place = kind.place
    if output in ("table", "wide"):
        request = one(place, scope, name) if name else requests.listing(place, scope, limit=0)
        body = client.request(Request("GET", request.path, request.query, {"Accept": TABLE}))
        rows = body.get("rows") or []
        if rows:
            if several:
                for row in rows:
                    row["cells"][0] = f"{kind.kind.lower()}/{row['cells'][0]}"
            print_table(body, wide=output == "wide", namespaces=not scope.namespace and kind.namespaced)
            if several:
                click.echo()
        return len(rows)
    items = [client.request(one(place, scope, name))] if name else list(client.list_raw(place, scope).items)
    if output == "name":
        for item in items:
            click.echo(f"{kind.kind.lower()}/{item['metadata']['name']}")
    elif items:
        print_objects(items, output, single=bool(name))
    return len(items)


def one(place: Place, scope: Scope, name: str) -> Request:
    return requests.get(place, Key(scope.namespace if place.namespaced else "", name))


@click.command()
@click.argument("target", metavar="KIND/NAME")
@namespace_option
@pass_settings
def why(settings: Settings, target: str, namespace: str) -> None:
    """Say what an object waits for, down to the last cause."""
    typed, name = parts(target)
    with settings.connect() as client:
        kind, body = holder(client, served(client), synonym(typed), Key(namespace, name))
        click.echo(explain(client, {**body, "kind": kind.kind}))


@click.command()
@click.argument("target", metavar="KIND/NAME")
@click.option(
    "--for", "condition", required=True, help="A condition type (Completed, …), a phase, or delete."
)
@click.option("--timeout", type=float, default=600.0, show_default=True, help="Seconds.")
@namespace_option
@pass_settings
def wait(settings: Settings, target: str, condition: str, timeout: float, namespace: str) -> None:
    """Wait until an object has a condition or a phase, or is gone."""
    condition = condition.removeprefix("condition=")
    with settings.connect() as client:
        try:
            if waited(client, target, namespace, condition, time.monotonic() + timeout):
                click.echo(f"{target} has {condition}")
                return
        except NotFound:
            if condition != "delete":
                raise
            click.echo(f"{target} is gone")
            return
    missed = "is still there" if condition == "delete" else f"has no {condition}"
    raise TimedOut(f"{target} {missed} after {timeout:g} s", next_step=f"pdc why {target}")


def waited(client: Client, target: str, namespace: str, condition: str, deadline: float) -> bool:
    """Whether the object came to have the condition in time; raises `NotFound` once it is gone."""
    typed, name = parts(target)
    kind, _ = holder(client, served(client), synonym(typed), Key(namespace, name))
    key = Key(namespace if kind.namespaced else "", name)
    return any(holds(body, condition) for body in bodies(client, kind.place, key, deadline))


def parts(target: str) -> tuple[str, str]:
    kind, _, name = target.partition("/")
    if not kind or not name:
        raise WrongUse(f"{target!r} names no object: write KIND/NAME, as in job/resnet")
    return kind, name


def holds(body: dict[str, Any], wanted: str) -> bool:
    status = body.get("status") or {}
    conditions = {c["type"]: c["status"] for c in status.get("conditions") or ()}
    return conditions.get(wanted) == "True" or status.get("phase") == wanted
