"""A Table from stored entries: cells are made once for an entry and kept with it, ages are filled in last.

Metadata goes out as the bytes that are stored, so that a list of thousands is printed without reading it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from ..store import Entry
from .ages import Ago
from .kinds import Kind
from .tables import Cells, layout

PARTIAL = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}


class Printing(NamedTuple):
    """How to print: what to send along of each object, when it is, and whether to name the columns."""

    include: str
    now: datetime
    columns: bool = True


class Row(NamedTuple):
    made_for: object
    """A definition that changes has other columns: what was made for the old ones is then worth nothing."""
    cells: list[Any]
    start: int
    end: int


def printed(kind: Kind, entries: Iterable[Entry], metadata: dict[str, Any], printing: Printing) -> bytes:
    columns, cells = layout(kind)
    body = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns if printing.columns else None,
        "rows": list(rows(kind, cells, entries, printing.include)),
    }
    now = printing.now.timestamp()

    def text(ago: Ago) -> str:
        return ago.text(now)

    return orjson.dumps(body, default=text)


def rows(kind: Kind, cells: Cells, entries: Iterable[Entry], include: str) -> Iterator[dict[str, Any]]:
    made_for = kind.columns if kind.custom else cells
    for entry in entries:
        row = entry.kept("row")
        if row is None or row.made_for is not made_for:
            row = made(cells, entry, made_for)
            entry.keep("row", row)
        if include == "Metadata":
            part = orjson.Fragment(entry.value[row.start : row.end])
            yield {"cells": row.cells, "object": {**PARTIAL, "metadata": part}}
        elif include == "Object":
            yield {"cells": row.cells, "object": orjson.Fragment(entry.value)}
        else:
            yield {"cells": row.cells}


def made(cells: Cells, entry: Entry, made_for: object) -> Row:
    body = entry.load()
    # Loading keeps the order of the keys, so that the part is found as it was written.
    metadata = orjson.dumps(body["metadata"])
    start = entry.value.index(metadata)
    return Row(made_for, cells(body), start, start + len(metadata))
