"""JSON patch (RFC 6902), merge patch (RFC 7386), strategic merge patch; the original is never changed."""

from __future__ import annotations

import copy
from typing import Any

import orjson

from ...errors import BadRequest, Invalid, TooLarge, UnsupportedMedia
from . import facts
from .kinds import Kind
from .strategic import UNKNOWN, strategic_merge

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
MOST_OPERATIONS = 10_000
MOST_COPIED = 3 * 1024 * 1024  # bytes, all operations together


def check_type(kind: Kind, content_type: str) -> None:
    """Raises `UnsupportedMedia` for a patch this kind does not take."""
    accepted = (JSON, MERGE, APPLY) if kind.custom else (JSON, MERGE, STRATEGIC, APPLY)
    if content_type not in accepted:
        raise UnsupportedMedia(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(accepted)
        )


def patched(body: dict[str, Any], patch: Any, content_type: str, kind: Kind | None = None) -> dict[str, Any]:
    """The body after a patch; without a kind its lists have no keys, as in a Scale."""
    if content_type == MERGE:
        if not isinstance(patch, dict):
            raise BadRequest("a merge patch must be an object")
        merged: dict[str, Any] = merge(body, patch)
        return merged
    if content_type == STRATEGIC:
        if not isinstance(patch, dict):
            raise BadRequest("a strategic merge patch must be an object")
        return strategic_merge(body, patch, facts.type_of(kind) if kind else UNKNOWN)
    return json_patch(body, patch)


def merge(body: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(body) if isinstance(body, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def json_patch(body: dict[str, Any], operations: Any) -> dict[str, Any]:
    """Apply all operations or none; a failed `test` or a missing path is `Invalid`."""
    if not isinstance(operations, list):
        raise BadRequest("a JSON patch must be a list of operations")
    if len(operations) > MOST_OPERATIONS:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MOST_OPERATIONS}, got {len(operations)}"
        )
    holder: dict[str, Any] = {"root": copy.deepcopy(body)}
    copied = 0
    for operation in operations:
        if not isinstance(operation, dict) or "op" not in operation or "path" not in operation:
            raise BadRequest("every operation of a JSON patch needs `op` and `path`")
        try:
            copied += size_copied(holder, operation)
            if copied > MOST_COPIED:
                raise ValueError(f"the copies of this patch have more than {MOST_COPIED} bytes")
            apply(holder, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise Invalid(
                "the server rejected our request due to an error in our request: "
                f"cannot {operation['op']} {operation['path']!r} ({error})"
            ) from error
    result = holder["root"]
    if not isinstance(result, dict):
        raise Invalid("the server rejected our request due to an error in our request: no object is left")
    return result


def size_copied(holder: dict[str, Any], operation: dict[str, Any]) -> int:
    """The bytes an operation says twice: thirty such operations could double an object to gigabytes."""
    if operation["op"] != "copy":
        return 0
    return len(orjson.dumps(look_up(holder, pointer(operation["from"]))))


def apply(holder: dict[str, Any], operation: dict[str, Any]) -> None:
    op, path = operation["op"], pointer(operation["path"])
    if op == "add":
        add(holder, path, operation["value"])
    elif op == "remove":
        remove(holder, path)
    elif op == "replace":
        look_up(holder, path)
        replace(holder, path, operation["value"])
    elif op == "test":
        if look_up(holder, path) != operation["value"]:
            raise ValueError("the value is another one")
    elif op == "copy":
        add(holder, path, copy.deepcopy(look_up(holder, pointer(operation["from"]))))
    elif op == "move":
        value = look_up(holder, pointer(operation["from"]))
        remove(holder, pointer(operation["from"]))
        add(holder, path, value)
    else:
        raise ValueError(f"unknown operation {op!r}")


def pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise ValueError(f"{text!r} is no JSON pointer")
    return ["root", *(p.replace("~1", "/").replace("~0", "~") for p in text.split("/")[1:])]


def look_up(body: Any, path: list[str]) -> Any:
    for part in path:
        body = body[int(part)] if isinstance(body, list) else body[part]
    return body


def add(body: Any, path: list[str], value: Any) -> None:
    parent, last = look_up(body, path[:-1]), path[-1]
    if isinstance(parent, list):
        index = len(parent) if last == "-" else int(last)
        if index > len(parent):
            raise IndexError("the list is shorter")
        parent.insert(index, value)
    else:
        parent[last] = value


def remove(body: Any, path: list[str]) -> None:
    parent, last = look_up(body, path[:-1]), path[-1]
    del parent[int(last) if isinstance(parent, list) else last]


def replace(body: Any, path: list[str], value: Any) -> None:
    parent, last = look_up(body, path[:-1]), path[-1]
    parent[int(last) if isinstance(parent, list) else last] = value
