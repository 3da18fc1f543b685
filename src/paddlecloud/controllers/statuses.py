"""The difference between the status that is stored and the one that was decided, as a merge patch."""

from __future__ import annotations

from typing import Any

from ..api.meta import Resource, Value


def status_patch(obj: Resource, decided: Value | dict[str, Any]) -> dict[str, Any]:
    """The merge patch that makes the stored status exactly *decided*; empty when it is so already."""
    told = getattr(obj, "status", None)
    # What was never said is not stored, whatever it is by default.
    said = "status" in obj.model_fields_set
    if said and decided is told:
        return {}
    if said and isinstance(told, Value) and type(decided) is type(told):
        told, decided = unlike(told, decided)
    stored = (told.wire() if isinstance(told, Value) else obj.wire().get("status") or {}) if said else {}
    wanted = decided.wire() if isinstance(decided, Value) else without_nulls(decided)
    return difference(stored, wanted)


def unlike(told: Value, decided: Value) -> tuple[Value, Value]:
    """Both without the entries of their mappings that are the very same value: no need to write those out."""
    mine, theirs = {}, {}
    for name in told.model_fields_set & decided.model_fields_set:
        old, new = getattr(told, name), getattr(decided, name)
        if not isinstance(old, dict) or not isinstance(new, dict) or old is new:
            continue
        same = {key for key, value in new.items() if isinstance(value, Value) and old.get(key) is value}
        if same:
            mine[name] = {key: value for key, value in old.items() if key not in same}
            theirs[name] = {key: value for key, value in new.items() if key not in same}
    return (told.but(**mine), decided.but(**theirs)) if mine else (told, decided)


def difference(stored: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {name: None for name in stored if name not in wanted}
    for name, value in wanted.items():
        have = stored.get(name)
        if isinstance(have, dict) and isinstance(value, dict):
            if inner := difference(have, value):
                patch[name] = inner
        elif name not in stored or have != value:
            patch[name] = value
    return patch


def without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    """A null in a merge patch means removal; in a status it means nothing was said."""
    return {
        name: without_nulls(inner) if isinstance(inner, dict) else inner
        for name, inner in value.items()
        if inner is not None
    }
