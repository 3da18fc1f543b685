"""What the pod of a step says when it has ended, and what keeps it from starting; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..api.core import ConfigMap, Pod
from .datahindrances import waiting_for
from .jobstatus import stuck_pod

BACK_OFF, NO_VOLUME = "ErrImagePull: ", "MountVolume"
HANDED = "handed.json"


def terminated(pod: Pod) -> dict[str, object]:
    for state in pod.status.get("containerStatuses") or ():
        if ended := (state.get("state") or {}).get("terminated"):
            return dict(ended)
    return {}


def handed(
    ended: Mapping[str, object], kept: Mapping[str, ConfigMap]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outputs, and what is known of the artifacts; larger ones were laid aside in a ConfigMap."""
    body = read(str(ended.get("message") or ""))
    if aside := kept.get(str(body.get("kept") or "")):
        body = read(aside.data.get(HANDED, ""))
    outputs, artifacts = body.get("outputs"), body.get("artifacts")
    return (
        dict(outputs) if isinstance(outputs, dict) else {},
        dict(artifacts) if isinstance(artifacts, dict) else {},
    )


def hindrance(pod: Pod) -> str:
    """Why a pod does not start, in one line; an image that is tried again and again is one reason."""
    if pod.phase != "Pending":
        return ""
    told = waiting_for(pod)
    if stuck := stuck_pod({pod.name: pod}):
        before, again, why = stuck.message.partition(BACK_OFF)
        return one_line(f"pod {pod.name} cannot start: {why}" if again else before)
    # Of a container that is being made nothing else is worth a line: the rest is progress.
    return one_line(f"pod {pod.name} cannot start: {told}") if told.startswith(NO_VOLUME) else ""


def one_line(text: str) -> str:
    return " ".join(text.split())


def recorded(value: Any) -> Any:
    """As a status keeps it: what is nothing is not there, because a patch of it would take it away."""
    if isinstance(value, dict):
        return {k: recorded(v) for k, v in value.items() if v is not None}
    return value


def read(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text or "{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def moment(text: object) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None
