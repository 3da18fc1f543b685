"""`pdc get -w`: what there is, then every change as it happens, in the form that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click

from ..cluster import requests
from ..cluster.requests import Request, Scope
from ..cluster.watching import read_event
from ..errors import Expired
from ..sdk.client import Client
from ..sdk.discovery import Served
from ..sdk.loglines import whole_lines
from .output import Columns, print_objects

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
SECONDS = 3600
Body = dict[str, Any]


def watch(client: Client, kind: Served, scope: Scope, output: str) -> None:
    """Print until interrupted; objects that go are printed as they were last."""
    show = printer(kind, scope, output)
    accept = TABLE if output in ("table", "wide") else "application/json"
    for body in changes(client, kind, scope, accept):
        show(body)


def printer(kind: Served, scope: Scope, output: str) -> Callable[[Body], None]:
    if output in ("table", "wide"):
        columns = Columns(wide=output == "wide", namespaces=not scope.namespace and kind.namespaced)
        return columns.show
    if output == "name":
        return lambda body: click.echo(f"{kind.kind.lower()}/{body['metadata']['name']}")

    def whole(body: Body) -> None:
        if output == "yaml":
            click.echo("---")
        print_objects([body], output, single=True)

    return whole


def changes(client: Client, kind: Served, scope: Scope, accept: str) -> Iterator[Body]:
    """What there is, as one table or object by object, then each change; a watch that ends begins again."""
    tables, version = accept is TABLE, ""
    while True:
        if not version:
            listing = requests.listing(kind.place, scope, limit=0)
            body = client.request(Request("GET", listing.path, listing.query, {"Accept": accept}))
            version = str(body["metadata"]["resourceVersion"])
            yield from [body] if tables else body.get("items") or ()
        request = requests.watching(kind.place, scope, version, SECONDS)
        request = Request("GET", request.path, request.query, {"Accept": accept})
        try:
            for line in whole_lines(client.text(request)):
                event = read_event(line)
                version = event.resource_version or version
                if event.type != "BOOKMARK":
                    yield event.object
        except Expired:
            version = ""
