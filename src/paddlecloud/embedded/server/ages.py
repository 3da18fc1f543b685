"""Times as people say them: 12s, 3m4s, 5h, 12d; pure.

A cell says since when, not how long: it stays true while time passes, and the text is made last.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple


class Ago(NamedTuple):
    """A time that is shown by how long ago it was."""

    began: float
    phrase: str = "{}"

    def text(self, now: float) -> str:
        return self.phrase.format(span(now - self.began))


def age(stamp: str | None, phrase: str = "{}") -> Ago | str:
    if not stamp:
        return "<unknown>"
    try:
        return Ago(datetime.fromisoformat(stamp).timestamp(), phrase)
    except (TypeError, ValueError):
        return "<invalid>"


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


def created(body: dict[str, Any]) -> Ago | str:
    return age(body["metadata"].get("creationTimestamp"))
