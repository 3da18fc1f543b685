"""One object, several versions: with conversion `None` only `apiVersion` differs.

Objects are kept as they were written. Whoever reads them in another version gets the same bytes behind
another beginning: `apiVersion` and `kind` come first in everything that is stored.
"""

from __future__ import annotations

import functools

import orjson

from ..store import Entry
from .kinds import Kind


def as_read(kind: Kind, entry: Entry) -> Entry:
    """The entry in the version of *kind*."""
    if not kind.several:
        return entry
    head = beginning(kind.api_version, kind.kind)
    if entry.value.startswith(head):
        return entry
    end = entry.value.find(b',"kind":"')
    end = entry.value.find(b'"', end + len(b',"kind":"')) + 1
    return Entry(entry.place, entry.revision, head + entry.value[end:])


@functools.lru_cache(maxsize=1024)
def beginning(api_version: str, kind: str) -> bytes:
    return orjson.dumps({"apiVersion": api_version, "kind": kind})[:-1]
