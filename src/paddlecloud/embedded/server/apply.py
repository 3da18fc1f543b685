"""Server-side apply: a configuration becomes part of an object, and its sender the owner of what it says.

What the sender said last time and no longer says is removed, unless somebody else owns it too. A field that
another one owns with another value is a conflict; with force it changes hands. Pure.
"""

from __future__ import annotations

import copy
from typing import Any

import orjson

from ...errors import BadRequest, Conflict, ServerError
from . import fields as sets
from .changes import compared
from .fields import Fields, difference, intersection, union, with_names, without
from .merging import laid_over, problems, taken_away
from .outlines import Outline
from .ownership import (
    NOBODYS,
    Body,
    Entry,
    Writer,
    bereft,
    identity,
    joined,
    ordered,
    unmanaged,
    updated,
)
from .shapes import Shape, Unkeyed

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
BEFORE = "before-first-apply"


def applied(
    old: Body | None, config: Body, writer: Writer, force: bool, outline: Outline, ignored: Fields, now: str
) -> Body:
    """The object with the configuration applied, its managedFields up to date; None is no object yet.

    Raises `Conflict` when others own what it changes, `BadRequest` for a configuration that is none.
    """
    shape = outline.shape
    check(config, shape, kind_text(writer.api_version, outline.kind))
    live = unmanaged(old) if old is not None else outline.blank
    entries: list[Entry] = ((old or {}).get("metadata") or {}).get("managedFields") or []
    if not entries and old is not None:
        # Whatever was there before anybody was asked belongs to a manager of its own.
        first = Writer(BEFORE, writer.api_version, writer.subresource)
        entries = updated([], outline.blank, live, shape, first, now, ignored)
    try:
        return merged(live, config, entries, writer, force, shape, ignored, now)
    except Conflicting as found:
        if writer.manager == "kubectl" and found.fields_within(allowed(live, shape)):
            return merged(live, config, entries, writer, True, shape, ignored, now)
        raise found.as_error() from None


def check(config: Body, shape: Shape, of_kind: str) -> None:
    metadata = config.get("metadata") or {}
    given = kind_text(config.get("apiVersion") or "", config.get("kind") or "")
    if given != of_kind:
        raise BadRequest(f"invalid object type: {given}")
    if metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    found = problems(config, shape)
    if found:
        place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {given}"
        told = found[0] if len(found) == 1 else "errors:" + "".join(f"\n  {text}" for text in found)
        raise Untyped(f"failed to create typed patch object ({place}): {told}")


def kind_text(api_version: str, kind: str) -> str:
    """A kind as these messages name it; the group is empty where it has none."""
    return f"{api_version if '/' in api_version else f'/{api_version}'}, Kind={kind}"


def merged(
    live: Body,
    config: Body,
    entries: list[Entry],
    writer: Writer,
    force: bool,
    shape: Shape,
    ignored: Fields,
    now: str,
) -> Body:
    said = without(sets.of(config, shape), ignored)
    own = writer.identity()
    mine = [entry for entry in entries if identity(entry) == own]
    others = [entry for entry in entries if identity(entry) != own]
    last: Fields = mine[0].get("fieldsV1") or {} if mine else {}
    new = stored = laid_over(live, config, shape)
    if difference(last, said):
        gone = forgotten(new, last, [said, *(e.get("fieldsV1") or {} for e in others)], shape)
        new, stored = (taken_away(new, gone, shape, nulls=nulls) or {} for nulls in (True, False))
    try:
        changed, removed = compared(live, new, shape)
    except Unkeyed as error:
        raise ServerError(f"failed to compare objects: {error}") from error
    changed = without(changed, ignored)
    conflicts = [(e, intersection(e.get("fieldsV1") or {}, changed)) for e in others]
    conflicts = [(entry, fields) for entry, fields in conflicts if fields]
    if conflicts and not force:
        raise Conflicting(conflicts)
    kept = bereft(others, union(changed, without(removed, ignored)))
    said = difference(said, NOBODYS)
    unchanged = not changed and not removed and live == new
    time = (mine[0].get("time", "") if mine else "") if unchanged else now
    if said:
        kept = joined(kept, writer, said, time)
    metadata = dict(stored.get("metadata") or {})
    if kept:
        metadata["managedFields"] = ordered(kept)
    result = {**stored, "metadata": metadata}
    return result if writer.manager != "kubectl" else remembering(result, config)


def forgotten(new: Body, last: Fields, owned: list[Fields], shape: Shape) -> Fields:
    """What was said last time, except for what somebody says or owns now."""
    last = with_names(last, shape)
    everything = with_names(sets.of(new, shape), shape)
    left = with_names(sets.of(taken_away(new, last, shape) or {}, shape), shape)
    for fields in owned:
        left = union(left, with_names(fields, shape))
    left = sets.of(taken_away(new, difference(everything, left), shape) or {}, shape)
    return intersection(difference(everything, with_names(left, shape)), last)


class Untyped(ServerError):
    """A configuration that is no object of its kind; an error without a reason, as clients know it."""

    reason = ""


class Conflicting(Exception):
    def __init__(self, conflicts: list[tuple[Entry, Fields]]) -> None:
        super().__init__("others own what is to be changed")
        self.conflicts = sorted(conflicts, key=lambda pair: described(pair[0]))

    def fields_within(self, allowed: Fields) -> bool:
        """Forget the conflicts about these fields; whether none is left."""
        rest = [(entry, difference(fields, allowed)) for entry, fields in self.conflicts]
        self.conflicts = [(entry, fields) for entry, fields in rest if fields]
        return not self.conflicts

    def as_error(self) -> Conflict:
        causes = [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {described(entry)}",
                "field": path,
            }
            for entry, fields in self.conflicts
            for path in sets.paths(fields)
        ]
        if len(causes) == 1:
            text = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
        else:
            lines = []
            for entry, fields in self.conflicts:
                lines += [f"conflicts with {described(entry)}:", *(f"- {p}" for p in sets.paths(fields))]
            text = f"{len(causes)} conflicts: " + "\n".join(lines)
        return Conflict(f"Apply failed with {text}", details={"causes": causes})


def described(entry: Entry) -> str:
    text = f'"{entry.get("manager", "")}"'
    if entry.get("subresource"):
        text += f' with subresource "{entry["subresource"]}"'
    return f"{text} using {entry['apiVersion']}" if entry["operation"] == "Update" else text


def allowed(live: Body, shape: Shape) -> Fields:
    """What kubectl's own note says it applied and what is still so: kubectl may take it over from itself."""
    note = ((live.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        noted = orjson.loads(note or "null")
        if not isinstance(noted, dict):
            return {}
        changed, removed = compared(noted, live, shape)
        return difference(sets.of(noted, shape), union(changed, removed))
    except (ValueError, Unkeyed):
        return {}


def remembering(body: Body, config: Body) -> Body:
    """With kubectl's note brought up to date, where it keeps one."""
    annotations = body["metadata"].get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return body
    noted = copy.deepcopy(config)
    inner: dict[str, Any] = noted.get("metadata") or {}
    (inner.get("annotations") or {}).pop(LAST_APPLIED, None)
    text = orjson.dumps(noted, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    metadata = {**body["metadata"], "annotations": {**annotations, LAST_APPLIED: text}}
    return {**body, "metadata": metadata}
