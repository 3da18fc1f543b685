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
    stored = (told.wire() if isinstance(told, Value) else obj.wire().get("status") or {}) if said else {}
    wanted = decided.wire() if isinstance(decided, Value) else without_nulls(decided)
    return difference(stored, wanted)


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
