"""Keeps the owners of an object up to date while it is written; the seam between the verbs and ownership.

Fields that the server assigns on its own are nobody's until somebody changes them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .fields import Fields, union
from .kinds import Kind
from .outlines import outline_of
from .ownership import Body, Entry, Writer, entries_of, updated

# Assigned after the defaults when the client leaves them out; below `spec`.
ASSIGNED: dict[str, tuple[str, ...]] = {
    "/pods": (
        "serviceAccount", "serviceAccountName", "tolerations", "priority", "preemptionPolicy", "volumes",
        "imagePullSecrets",
    ),
    "/services": ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
    "/namespaces": ("finalizers",),
    "/persistentvolumeclaims": ("storageClassName",),
    "batch/jobs": ("selector",),
}  # fmt: skip


def said_in_spec(body: Body) -> Collection[str]:
    """What a client says below `spec`, remembered before the server adds to it."""
    spec = body.get("spec")
    return frozenset(spec) if isinstance(spec, dict) else ()


def created(kind: Kind, body: Body, said: Collection[str], manager: str, now: str) -> list[Entry]:
    """The owners of a new object: its sender owns everything but what the server assigned."""
    outline = outline_of(kind)
    ignored = outline.ignored(kind, "")
    assigned: Fields = {f"f:{n}": {} for n in ASSIGNED.get(kind.resource, ()) if n not in said}
    if assigned:
        ignored = union(ignored, {"f:spec": assigned})
    writer = Writer(manager, kind.api_version)
    return updated([], outline.blank, body, outline.shape, writer, now, ignored)


def changed(
    kind: Kind, old: Body, made: Body, new: Body, manager: str, subresource: str, now: str
) -> list[Entry]:
    """The owners after a change; *made* is what the client sent, *new* what becomes of it."""
    entries = entries_of(old, made, subresource)
    if not entries:
        return []  # whoever gave up ownership gets it back by applying
    outline = outline_of(kind)
    writer = Writer(manager, kind.api_version, subresource)
    ignored = outline.ignored(kind, subresource)
    return updated(entries, old, new, outline.shape, writer, now, ignored)


def put(body: Body, entries: list[Entry] | None) -> None:
    """Write the owners into the object; none at all leave no field."""
    metadata: dict[str, Any] = body["metadata"]
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)
