"""What may be asked of a log, in the server's own words; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ...errors import BadRequest, Invalid

Cause = dict[str, Any]
LEAST = {"tailLines": (0, "must be greater than or equal to 0"), "limitBytes": (1, "must be greater than 0"),
         "sinceSeconds": (1, "must be greater than 0")}  # fmt: skip
WHOLE = re.compile(r"[+-]?\d+")


def check(pod: str, query: Mapping[str, str]) -> None:
    """Raises what a Kubernetes API server says to such a query for the log of *pod*."""
    for name in LEAST:
        text = query.get(name)
        if text is not None and not WHOLE.fullmatch(text):
            raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if moment := query.get("sinceTime"):
        check_time(moment)
    causes = list(complaints(query))
    if causes:
        told = ", ".join(f"{cause['field']}: {cause['message']}" for cause in causes)
        shown = told if len(causes) == 1 else f"[{told}]"
        details = {"name": pod, "kind": "PodLogOptions", "causes": causes}
        raise Invalid(f'PodLogOptions "{pod}" is invalid: {shown}', details=details)


def complaints(query: Mapping[str, str]) -> Iterator[Cause]:
    for name, (least, rule) in LEAST.items():
        if name in query and int(query[name]) < least:
            message = f"Invalid value: {int(query[name])}: {rule}"
            yield {"reason": "FieldValueInvalid", "message": message, "field": name}
    if query.get("sinceTime") and "sinceSeconds" in query:
        message = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        yield {"reason": "FieldValueForbidden", "message": message, "field": "[]"}
    if "stream" in query:
        message = "Forbidden: may not be specified"
        yield {"reason": "FieldValueForbidden", "message": message, "field": "stream"}


def check_time(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        layout = "2006-01-02T15:04:05Z07:00"
        message = f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"'
        raise BadRequest(message) from None
