"""An object as it is read: in the version asked for, with the defaults its definition gives it today.

Objects are kept as they were written. Whoever reads a custom one in another version gets the same bytes
behind another beginning: `apiVersion` and `kind` come first in everything that is stored. Only what was
written before its definition last changed is looked at again.
"""

from __future__ import annotations

import functools

import orjson

from ..store import Entry
from . import views
from .kinds import Kind
from .schema import default, prune


def as_read_all(kind: Kind, entries: list[Entry]) -> list[Entry]:
    """All of them; the very list where nothing can differ from what is stored."""
    if not (kind.kept or kind.several or any(e.revision < kind.defined for e in entries)):
        return entries
    return [as_read(kind, e) for e in entries]


def as_read(kind: Kind, entry: Entry) -> Entry:
    """The entry in the version of *kind*."""
    if kind.kept:
        return views.shown_entry(kind, entry)
    if entry.revision < kind.defined:
        entry = as_defined(kind, entry)
    if not kind.several:
        return entry
    head = beginning(kind.api_version, kind.kind)
    if entry.value.startswith(head):
        return entry
    end = entry.value.find(b',"kind":"')
    end = entry.value.find(b'"', end + len(b',"kind":"')) + 1
    return Entry(entry.place, entry.revision, head + entry.value[end:])


def as_defined(kind: Kind, entry: Entry) -> Entry:
    """An entry that is older than the definition of its kind, as the definition has it now."""
    known = kind.read_again.get(entry.place)
    if known is None or known.revision != entry.revision:
        body, _ = prune(entry.load(), kind.schema or {})
        known = Entry(entry.place, entry.revision, orjson.dumps(default(body, kind.schema or {})))
        kind.read_again[entry.place] = known
    return known


@functools.lru_cache(maxsize=1024)
def beginning(api_version: str, kind: str) -> bytes:
    return orjson.dumps({"apiVersion": api_version, "kind": kind})[:-1]
