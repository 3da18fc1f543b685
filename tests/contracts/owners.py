"""Who owns what, as a contract reads it: every field of `managedFields` as a path, times left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.kubernetes.rest import Answer, Rest

APPLY = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"


def apply(rest: Rest, path: str, config: Any, manager: str = "alice", **query: Any) -> Answer:
    return rest.send(
        "PATCH", path, config, query={"fieldManager": manager, **query}, headers={"Content-Type": APPLY}
    )


def strategic(rest: Rest, path: str, patch: Any, **query: Any) -> Answer:
    return rest.send("PATCH", path, patch, query=query, headers={"Content-Type": STRATEGIC})


def owners(body: dict[str, Any]) -> dict[str, str]:
    """`manager operation [subresource]` to the fields it owns, in one line each."""
    found = {}
    for entry in body["metadata"].get("managedFields") or ():
        assert entry["fieldsType"] == "FieldsV1"
        words = (entry["manager"], entry["operation"], entry.get("subresource", ""))
        name = " ".join(word for word in words if word)
        assert name not in found, f"two entries of {name}"
        found[name] = " ".join(sorted(paths(entry["fieldsV1"])))
    return found


def paths(fields: dict[str, Any], before: str = "") -> Iterator[str]:
    """A field that is owned itself is shown; one that only has owned parts is not."""
    for key, inner in fields.items():
        if key == ".":
            continue
        path = before + shown(key)
        if not inner or "." in inner:
            yield path
        yield from paths(inner, path)


def shown(key: str) -> str:
    kind, _, text = key.partition(":")
    if kind == "f":
        return f"/{text}"
    value = json.loads(text)
    if isinstance(value, dict):
        return "[" + ",".join(str(value[name]) for name in sorted(value)) + "]"
    return f"[={value}]"
