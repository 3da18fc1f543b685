"""Schedules: five fields, six with the second first, or a word, in a time zone; their moments; pure.

A local time that a change of clocks skips is skipped; one that comes twice comes twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from ..errors import Invalid

WORDS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
DURATION = re.compile(r"(\d+)(h|m|s)")
UNITS = {"h": 3600, "m": 60, "s": 1}
FARTHEST = timedelta(days=5 * 366)
MANY = 100


@dataclass(frozen=True)
class Schedule:
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool
    """Both kinds of days are limited: one of them is enough."""
    zone: ZoneInfo | None
    every: timedelta | None = None
    seconds: frozenset[int] = frozenset({0})

    def minute(self, local: datetime) -> bool:
        """Whether the minute that *local* is in is one of its minutes."""
        of_day = local.hour in self.hours and local.minute in self.minutes
        return of_day and local.month in self.months and self.day(local)

    def day(self, local: datetime) -> bool:
        of_month, of_week = local.day in self.days, local.isoweekday() % 7 in self.weekdays
        return of_month or of_week if self.either else of_month and of_week


def parse(text: str, zone: str = "") -> Schedule:
    """Raises `Invalid` with the field that cannot be read."""
    words = text.strip()
    try:
        place = ZoneInfo(zone) if zone else None
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(f"unknown time zone {zone}") from error
    if words.startswith("@every "):
        return blank(place, timedelta(seconds=duration(words.removeprefix("@every ").strip())))
    fields = WORDS.get(words, words).split()
    if len(fields) != 5:
        raise Invalid(f"expected exactly 5 fields, found {len(fields)}: [{text}]")
    minute, hour, day, month, weekday = fields
    return Schedule(
        numbers(minute, 0, 59),
        numbers(hour, 0, 23),
        numbers(day, 1, 31),
        numbers(month, 1, 12, MONTHS, 1),
        numbers(weekday, 0, 6, DAYS, 0),
        either=not (every(day) or every(weekday)),
        zone=place,
    )


def parse_with_seconds(text: str) -> Schedule:
    """Six fields, the second first; words as they are. Raises `Invalid`."""
    words = text.strip()
    if words.startswith("@"):
        return parse(words)
    fields = words.split()
    if len(fields) != 6:
        raise Invalid(f"expected exactly 6 fields, the second first, found {len(fields)}: [{text}]")
    return replace(parse(" ".join(fields[1:])), seconds=numbers(fields[0], 0, 59))


def blank(zone: ZoneInfo | None, pause: timedelta) -> Schedule:
    nothing: frozenset[int] = frozenset()
    return Schedule(nothing, nothing, nothing, nothing, nothing, False, zone, pause)


def duration(text: str) -> int:
    if not text or DURATION.sub("", text):
        raise Invalid(f"failed to parse duration {text}")
    return max(1, sum(int(n) * UNITS[unit] for n, unit in DURATION.findall(text)))


def every(field: str) -> bool:
    return field in ("*", "?", "*/1")


def numbers(
    field: str, low: int, high: int, names: list[str] | None = None, first: int = 0
) -> frozenset[int]:
    """The numbers of one field: `*`, `5`, `1-5`, `*/15`, `10-20/2`, names, and lists of these."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        begin, _, end = span.partition("-")
        if span in ("*", "?"):
            low_end, high_end = low, high
        else:
            low_end = number(begin, names, first, field)
            # One number with a step goes on to the end.
            high_end = number(end, names, first, field) if end else (high if step else low_end)
        if (step and (not step.isdecimal() or int(step) == 0)) or not low <= low_end <= high_end <= high:
            raise Invalid(f"{field} is no list of numbers between {low} and {high}")
        found.update(range(low_end, high_end + 1, int(step or 1)))
    return frozenset(found)


def number(text: str, names: list[str] | None, first: int, field: str) -> int:
    if names and text.lower() in names:
        return names.index(text.lower()) + first
    if not text.isdecimal():
        raise Invalid(f"failed to parse {text} in {field}")
    return int(text)


def after(schedule: Schedule, moment: datetime) -> datetime | None:
    """The first moment later than *moment*; None when there is none within years."""
    if schedule.every is not None:
        return moment.replace(microsecond=0) + schedule.every
    zone = schedule.zone or UTC
    this_minute = moment.astimezone(UTC).replace(second=0, microsecond=0)
    later = [second for second in schedule.seconds if second > moment.second]
    if later and schedule.minute(this_minute.astimezone(zone)):
        return this_minute.replace(second=min(later))
    found = this_minute + timedelta(minutes=1)
    last = found + FARTHEST
    while found < last:
        local = found.astimezone(zone)
        if local.month not in schedule.months or not schedule.day(local):
            tomorrow = (local + timedelta(days=1)).replace(hour=0, minute=0, fold=0)
            found = max(tomorrow.astimezone(UTC), found + timedelta(minutes=1))
        elif local.hour not in schedule.hours:
            found += timedelta(minutes=60 - local.minute)
        elif local.minute not in schedule.minutes:
            found += timedelta(minutes=1)
        else:
            return found.replace(second=min(schedule.seconds))
    return None


def moments(schedule: Schedule, since: datetime, until: datetime) -> Iterator[datetime]:
    found = after(schedule, since)
    while found is not None and found <= until:
        yield found
        found = after(schedule, found)


@dataclass(frozen=True)
class Missed:
    last: datetime | None
    """The newest moment that was due."""
    count: int
    """How many were due, counted up to a hundred and one."""


def missed(schedule: Schedule, since: datetime, now: datetime) -> Missed:
    """What was due after *since*, up to *now*, without walking through all of a long time."""
    first = list(islice(moments(schedule, since, now), MANY + 1))
    if len(first) <= MANY:
        return Missed(first[-1] if first else None, len(first))
    if schedule.every is not None:
        return Missed(since + (now - since) // schedule.every * schedule.every, MANY + 1)
    for window in (timedelta(hours=1), timedelta(days=1), timedelta(days=32), now - since):
        late = list(moments(schedule, max(since, now - window), now))
        if late:
            return Missed(late[-1], MANY + 1)
    return Missed(first[-1], MANY + 1)
