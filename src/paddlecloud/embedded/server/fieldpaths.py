"""The `fieldPath` of a rule, `.spec['a-b'].c`: whether a schema has the field, how errors name it; pure."""

from __future__ import annotations

import re
from typing import Any

STEP = re.compile(r"\.([^.\[\]']+)|\['((?:\\.|[^'\\])+)'\]")


def field_path(path: str, schema: dict[str, Any]) -> str | None:
    """The path as errors show it; None where it leads nowhere."""
    inner: Any = schema
    at, shown = 0, ""
    while at < len(path):
        match = STEP.match(path, at)
        if match is None or not isinstance(inner, dict):
            return None
        name = match[1] or re.sub(r"\\(.)", r"\1", match[2])
        if inner.get("properties"):
            inner = inner["properties"].get(name)
            shown += f".{name}"
        else:
            inner = inner.get("additionalProperties")
            shown += f"[{name}]"
        if not isinstance(inner, dict):
            return None
        at = match.end()
    return shown or None
