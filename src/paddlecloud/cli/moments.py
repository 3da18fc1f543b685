"""Moments as people say them, in the time of this machine: `2026-11-16 14:03`, `yesterday 14:03`; pure."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from ..errors import WrongUse

DAYS = {"today": 0, "yesterday": 1}


def moment_of(text: str, now: datetime) -> datetime:
    """The moment *text* means for somebody who says it *now*; raises `WrongUse`."""
    words = text.split()
    try:
        if len(words) == 1 and ":" in text and "-" not in text:
            words = ["today", *words]
        named = [word for word in words if word.lower() in DAYS]
        if len(words) == 2 and len(named) == 1:
            [clock] = [word for word in words if word not in named]
            day = now.date() - timedelta(days=DAYS[named[0].lower()])
            return datetime.combine(day, time.fromisoformat(clock)).astimezone()
        return datetime.fromisoformat(text).astimezone()
    except ValueError as error:
        example = now.strftime("%Y-%m-%d 14:03")
        raise WrongUse(
            f"{text!r} is no time", next_step=f"write it as '{example}', '14:03' or 'yesterday 14:03'"
        ) from error
