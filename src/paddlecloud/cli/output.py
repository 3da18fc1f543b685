"""How answers look: the server's table laid out as kubectl does, JSON, YAML, names."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click
import yaml


def print_table(body: dict[str, Any], *, wide: bool = False, namespaces: bool = False) -> None:
    columns = body.get("columnDefinitions") or []
    shown = [i for i, c in enumerate(columns) if wide or not c.get("priority")]
    head = [columns[i]["name"].upper() for i in shown]
    rows = [[text(row["cells"][i]) for i in shown] for row in body.get("rows") or ()]
    if namespaces:
        head.insert(0, "NAMESPACE")
        for row, source in zip(rows, body.get("rows") or (), strict=True):
            row.insert(0, source["object"]["metadata"].get("namespace") or "")
    lay_out([head, *rows])


def lay_out(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        click.echo("   ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())


def text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def print_objects(bodies: Iterable[dict[str, Any]], form: str, *, single: bool) -> None:
    items = [without_noise(b) for b in bodies]
    body: Any = items[0] if single else {"apiVersion": "v1", "kind": "List", "items": items}
    if form == "json":
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        click.echo(yaml.safe_dump(body, sort_keys=False, allow_unicode=True).rstrip())


def without_noise(body: dict[str, Any]) -> dict[str, Any]:
    metadata = {k: v for k, v in body.get("metadata", {}).items() if k != "managedFields"}
    return {**body, "metadata": metadata}
