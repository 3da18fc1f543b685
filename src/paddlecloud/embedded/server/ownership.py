"""Who owns which field: `metadata.managedFields`, kept by every write; pure.

Whoever changes a field owns it from then on, alone; whoever removes one takes it from everybody. An entry
is known by manager, operation, version and subresource; one that owns nothing vanishes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...errors import Invalid
from .changes import compared
from .fields import Fields, difference, union, without
from .shapes import Shape, Unkeyed

Body = dict[str, Any]
Entry = dict[str, Any]
LONGEST_NAME = 128
MOST_UPDATERS = 10
BUCKET = "ancient-changes"
# The server's own, whoever sends them.
NOBODYS: Fields = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {}, "f:name": {}, "f:namespace": {}, "f:creationTimestamp": {}, "f:selfLink": {}, "f:uid": {},
        "f:clusterName": {}, "f:generation": {}, "f:managedFields": {}, "f:resourceVersion": {},
    },
}  # fmt: skip


class Writer(NamedTuple):
    """Who writes, through which door."""

    manager: str
    api_version: str
    subresource: str = ""
    operation: str = "Update"

    def identity(self) -> tuple[str, ...]:
        version = self.api_version if self.operation == "Update" else ""
        return (self.manager, self.operation, version, self.subresource)

    def entry(self, fields: Fields, now: str) -> Entry:
        found = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        if not now:
            del found["time"]
        if self.subresource:
            found["subresource"] = self.subresource
        return found


def identity(entry: Entry) -> tuple[str, ...]:
    version = entry["apiVersion"] if entry["operation"] == "Update" else ""
    return (entry.get("manager", ""), entry["operation"], version, entry.get("subresource", ""))


def manager_of(given: str, user_agent: str) -> str:
    """The name a client gives itself, or what its User-Agent says before the first slash."""
    if given:
        return given
    printable = "".join(c for c in user_agent.partition("/")[0] if c.isprintable())
    while len(printable.encode()) > LONGEST_NAME:
        printable = printable[:-1]
    return printable or "unknown"


def check_manager(given: str, options: str) -> None:
    """Raises `Invalid` for a name that is too long or cannot be printed."""
    found = []
    if len(given.encode()) > LONGEST_NAME:
        found.append(("FieldValueTooLong", f"Too long: may not be more than {LONGEST_NAME} bytes"))
    position = 0
    for character in given:
        if not character.isprintable():
            told = f"invalid character {code_point(character)} (at position {position})"
            found.append(("FieldValueInvalid", f"Invalid value: {go_quoted(given)}: {told}"))
        position += len(character.encode())
    if found:
        raise invalid_options(options, "fieldManager", found)


def invalid_options(options: str, field: str, found: list[tuple[str, str]]) -> Invalid:
    texts = [f"{field}: {message}" for _, message in found]
    causes = [{"reason": reason, "message": message, "field": field} for reason, message in found]
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return Invalid(
        f'{options}.meta.k8s.io "" is invalid: {told}',
        details={"group": "meta.k8s.io", "kind": options, "causes": causes},
    )


def code_point(character: str) -> str:
    return f"U+{ord(character):04X}" + (f" '{character}'" if character.isprintable() else "")


def go_quoted(text: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(short.get(c) or (c if c.isprintable() else f"\\x{ord(c):02x}") for c in text) + '"'


def entries_of(old: Body | None, made: Body, subresource: str) -> list[Entry]:
    """The entries a write starts from: those it brings along, or those that are there.

    An empty list, or one empty entry, is how a client says that nobody owns anything.
    """
    before: list[Entry] = ((old or {}).get("metadata") or {}).get("managedFields") or []
    given = (made.get("metadata") or {}).get("managedFields")
    if subresource or given is None or given is before:
        return before
    if given in ([], [{}]):
        return []
    return given if isinstance(given, list) and all(map(readable, given)) else before


def readable(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("operation") in ("Apply", "Update")
        and bool(entry.get("apiVersion"))
        and entry.get("fieldsType") == "FieldsV1"
        and isinstance(entry.get("fieldsV1", {}), dict)
    )


def updated(
    entries: list[Entry], old: Body, new: Body, shape: Shape, writer: Writer, now: str, ignored: Fields
) -> list[Entry]:
    """The entries after a write that is no apply; the same list when it changed nothing anybody can own."""
    try:
        changed, removed = compared(unmanaged(old), unmanaged(new), shape)
    except Unkeyed:
        return []  # half of the truth would be a lie
    if not changed and not removed:
        return entries
    mine = without(difference(changed, NOBODYS), ignored)
    found = bereft(entries, union(changed, removed))
    if mine:
        found = joined(found, writer, mine, now)
    return ordered(capped(found))


def unmanaged(body: Body) -> Body:
    metadata = body.get("metadata")
    if not metadata or "managedFields" not in metadata:
        return body
    return {**body, "metadata": {k: v for k, v in metadata.items() if k != "managedFields"}}


def bereft(entries: Iterable[Entry], lost: Fields) -> list[Entry]:
    """What the entries still own without the lost fields."""
    found = []
    for entry in entries:
        before = entry.get("fieldsV1") or {}
        kept = difference(before, lost)
        if kept:
            found.append(entry if kept == before else {**entry, "fieldsV1": kept})
    return found


def joined(entries: list[Entry], writer: Writer, fields: Fields, now: str) -> list[Entry]:
    """The entries with these fields added to the writer's own."""
    own = writer.identity()
    found = [entry for entry in entries if identity(entry) != own]
    for entry in entries:
        if identity(entry) == own:
            fields = union(fields, entry.get("fieldsV1") or {})
    return [*found, writer.entry(fields, now)]


def ordered(entries: list[Entry]) -> list[Entry]:
    if len(entries) < 2:
        return entries
    return sorted(
        entries,
        key=lambda e: (
            e["operation"],
            e.get("time") or "",
            e.get("manager", ""),
            e["apiVersion"],
            e.get("subresource", ""),
        ),
    )


def capped(entries: list[Entry]) -> list[Entry]:
    """At most ten updaters: the oldest of one version are thrown together, so that objects stay small."""
    updaters = [e for e in entries if e["operation"] == "Update"]
    many = len(updaters)
    if many <= MOST_UPDATERS:
        return entries
    gone: list[Entry] = []
    buckets: dict[str, Entry] = {}
    for entry in sorted(updaters, key=lambda e: (e.get("time") or "", *identity(e))):
        if many <= MOST_UPDATERS:
            break
        version = entry["apiVersion"]
        gone.append(entry)
        first = buckets.get(version)
        if first is None:
            buckets[version] = entry
            continue
        fields = union(entry.get("fieldsV1") or {}, first.get("fieldsV1") or {})
        buckets[version] = Writer(BUCKET, version).entry(fields, entry.get("time") or "")
        many -= 1
    return [e for e in entries if not any(e is g for g in gone)] + list(buckets.values())
