"""How answers look: the server's table laid out as kubectl does, JSON, YAML, names."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click
import yaml


def print_table(body: dict[str, Any], *, wide: bool = False, namespaces: bool = False) -> None:
    Columns(wide=wide, namespaces=namespaces).show(body)


class Columns:
    """Prints tables that come one after the other as one: one head, columns that only grow."""

    def __init__(self, *, wide: bool, namespaces: bool) -> None:
        self._wide, self._namespaces = wide, namespaces
        self._columns: list[dict[str, Any]] = []
        self._widths: list[int] = []

    def show(self, body: dict[str, Any]) -> None:
        """Only the first table of a watch says what its columns are."""
        head = not self._columns
        self._columns = body.get("columnDefinitions") or self._columns
        shown = [i for i, c in enumerate(self._columns) if self._wide or not c.get("priority")]
        rows = [[text(row["cells"][i]) for i in shown] for row in body.get("rows") or ()]
        if self._namespaces:
            for row, source in zip(rows, body.get("rows") or (), strict=True):
                row.insert(0, source["object"]["metadata"].get("namespace") or "")
        if head:
            names = [self._columns[i]["name"].upper() for i in shown]
            rows.insert(0, ["NAMESPACE", *names] if self._namespaces else names)
        self._widths = [max(sizes) for sizes in zip(self._widths or widths(rows), widths(rows), strict=True)]
        for row in rows:
            click.echo(joined(row, self._widths))


def lay_out(rows: list[list[str]]) -> None:
    for line in aligned(rows):
        click.echo(line)


def aligned(rows: list[list[str]]) -> list[str]:
    return [joined(row, widths(rows)) for row in rows]


def widths(rows: list[list[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def joined(row: list[str], sizes: list[int]) -> str:
    return "   ".join(cell.ljust(size) for cell, size in zip(row, sizes, strict=True)).rstrip()


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
