"""Values as the messages of Kubernetes show them: in the notation of Go; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def shown(value: Any) -> str:
    """A JSON value as `Invalid value` and `Duplicate value` print it."""
    match value:
        case None:
            return "interface {}(nil)"
        case bool():
            return "true" if value else "false"
        case dict():
            inside = ", ".join(f"{quoted(k)}:{shown(value[k])}" for k in sorted(value))
            return f"map[string]interface {{}}{{{inside}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(shown, value))}}}"
        case str():
            return quoted(value)
        case _:
            return str(value)


def texts(values: Iterable[str]) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}"


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
