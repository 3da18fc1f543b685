"""Times as they stand in a status, and conditions with the rules of Kubernetes; pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

Body = dict[str, Any]


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: Any) -> datetime | None:
    """The time of a stamp, of whole seconds or finer; None for none."""
    return datetime.fromisoformat(text) if text else None


def condition(conditions: Iterable[Body], kind: str) -> Body | None:
    return next((c for c in conditions if c.get("type") == kind), None)


def without(conditions: Iterable[Body], kind: str) -> list[Body]:
    return [c for c in conditions if c.get("type") != kind]


def counted(status: Body, always: Iterable[str] = ()) -> Body:
    """The status without its zeros, which Kubernetes does not write, but for the fields in *always*."""
    kept = set(always)
    return {k: v for k, v in status.items() if k in kept or v not in (0, None, [], {})}
