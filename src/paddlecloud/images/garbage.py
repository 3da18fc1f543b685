"""Which images, and which of their parts, nobody needs any more. Pure.

An image that a pod names is needed, whatever the pod's phase: its next container may start from it. What was
imported cannot be fetched again and goes only when everything unused is asked for. A part goes when the last
image that has it goes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from . import names
from .failures import InvalidName
from .layout import IMPORTED, Entry


@dataclass(frozen=True)
class Parts:
    """What one image is made of."""

    blobs: frozenset[str] = frozenset()
    layers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Holdings:
    entries: tuple[Entry, ...]
    parts: Mapping[str, Parts]
    """By the digest of the manifest; one that cannot be read is not in it."""
    blobs: Mapping[str, int] = field(default_factory=dict)
    """All there are, with their sizes."""
    layers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Removal:
    names: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    size: int = 0
    """Of the blobs; the unpacked trees come on top."""


def unused(entries: Collection[Entry], images_of_pods: Collection[str], *, everything: bool) -> list[str]:
    """The names that no pod needs; *everything* includes what was imported."""
    wanted = [parsed for image in images_of_pods if (parsed := readable(image))]
    needed = {str(name) for name in wanted}
    digests = {name.digest for name in wanted if name.digest}
    return [
        entry.name
        for entry in entries
        if entry.name
        and entry.name not in needed
        and entry.manifest.digest not in digests
        and (everything or entry.source != IMPORTED)
    ]


def removal(there: Holdings, gone: Collection[str]) -> Removal:
    """What goes with the names *gone*: they, and every part that no name leads to afterwards."""
    kept = [e for e in there.entries if e.name and e.name not in gone]
    if any(e.manifest.digest not in there.parts for e in kept):
        # Of an image that cannot be read nobody knows the parts: better to keep all than to take one of its.
        return Removal(tuple(sorted(gone)))
    needed = {e.manifest.digest for e in kept}
    blobs = needed | {blob for digest in needed for blob in there.parts[digest].blobs}
    layers = {layer for digest in needed for layer in there.parts[digest].layers}
    going = sorted(set(there.blobs) - blobs)
    return Removal(
        tuple(sorted(gone)),
        tuple(going),
        tuple(sorted(there.layers - layers)),
        sum(there.blobs[blob] for blob in going),
    )


def readable(image: str) -> names.Name | None:
    try:
        return names.parse(image)
    except InvalidName:
        return None
