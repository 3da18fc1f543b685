"""Times as people say them: 12s, 3m4s, 5h, 12d; pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def age(stamp: str | None, now: datetime) -> str:
    """A time as people say it: 12s, 3m4s, 5h, 12d."""
    if not stamp:
        return "<unknown>"
    try:
        began = datetime.fromisoformat(stamp).astimezone(UTC)
    except (TypeError, ValueError):
        return "<invalid>"
    return span((now - began).total_seconds())


def span(seconds: float) -> str:
    total = int(seconds)
    # Clocks differ a little; more than that is no age.
    if total < -1:
        return "<invalid>"
    if total < 120:
        return f"{max(0, total)}s"
    minutes, rest = divmod(total, 60)
    if minutes < 10:
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours, rest = divmod(minutes, 60)
    if hours < 8:
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days, rest = divmod(hours, 24)
    if days < 8:
        return f"{days}d{rest}h" if rest else f"{days}d"
    if days < 730:
        return f"{days}d"
    years, rest = divmod(days, 365)
    return f"{years}y{rest}d" if rest and years < 8 else f"{years}y"


def created(body: dict[str, Any], now: datetime) -> str:
    return age(body["metadata"].get("creationTimestamp"), now)
