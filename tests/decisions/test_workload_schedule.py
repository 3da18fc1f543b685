"""Schedules: what their fields mean, and which moments they name where clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from paddlecloud.controllers.schedule import after, missed, parse, parse_with_seconds
from paddlecloud.errors import Invalid


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "schedule, now, then",
    [
        ("* * * * *", "2024-06-01 12:00", "2024-06-01 12:01"),
        ("*/15 * * * *", "2024-06-01 12:16", "2024-06-01 12:30"),
        ("5/20 * * * *", "2024-06-01 12:26", "2024-06-01 12:45"),
        ("0 0 * * *", "2024-06-01 12:00", "2024-06-02 00:00"),
        ("30 9-17/4 * * 1-5", "2024-06-01 12:00", "2024-06-03 09:30"),
        ("0 0 29 2 *", "2024-06-01 12:00", "2028-02-29 00:00"),
        ("0 0 13 * 5", "2024-06-01 12:00", "2024-06-07 00:00"),  # both days are limited: one is enough
        ("0 0 13 * *", "2024-06-01 12:00", "2024-06-13 00:00"),
        ("0 0 ? jan,Jul mon", "2024-06-01 12:00", "2024-07-01 00:00"),
        ("@hourly", "2024-06-01 12:00", "2024-06-01 13:00"),
        ("@weekly", "2024-06-01 12:00", "2024-06-02 00:00"),
        ("@yearly", "2024-06-01 12:00", "2025-01-01 00:00"),
        ("@every 1h30m", "2024-06-01 12:00", "2024-06-01 13:30"),
        ("0 0 30 2 *", "2024-06-01 12:00", ""),
    ],
)
def test_the_next_moment(schedule: str, now: str, then: str) -> None:
    assert after(parse(schedule), at(now)) == (at(then) if then else None)


@pytest.mark.parametrize(
    "schedule, now, then",
    [
        ("* * * * * *", "2024-06-01 12:00:07", "2024-06-01 12:00:08"),
        ("*/20 * * * * *", "2024-06-01 12:00:40", "2024-06-01 12:01:00"),
        ("5,50 30 * * * *", "2024-06-01 12:30:05", "2024-06-01 12:30:50"),
        ("5,50 30 * * * *", "2024-06-01 12:30:50", "2024-06-01 13:30:05"),
        ("10 0 0 * * *", "2024-06-01 12:00:05", "2024-06-02 00:00:10"),
        ("0 0 9 ? * MON-FRI", "2024-06-01 12:00:00", "2024-06-03 09:00:00"),
        ("@hourly", "2024-06-01 12:00:00", "2024-06-01 13:00:00"),
    ],
)
def test_the_next_moment_with_seconds(schedule: str, now: str, then: str) -> None:
    assert after(parse_with_seconds(schedule), at(now)) == at(then)


@pytest.mark.parametrize(
    "schedule, zone, now, moments",
    [
        ("30 2 * * *", "Europe/Berlin", "2024-03-30 12:00", ["2024-04-01 00:30"]),  # skipped in spring
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2024-10-26 12:00",
            ["2024-10-27 00:30", "2024-10-27 01:30"],
        ),  # twice
        ("0 9 * * *", "America/New_York", "2024-03-09 15:00", ["2024-03-10 13:00", "2024-03-11 13:00"]),
        ("0 0 * * *", "Asia/Kolkata", "2024-06-01 12:00", ["2024-06-01 18:30"]),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03 12:00", ["2018-11-05 02:00"]),  # no such midnight
        ("0 * * * *", "Australia/Lord_Howe", "2024-04-06 14:10", ["2024-04-06 15:30", "2024-04-06 16:30"]),
    ],
)
def test_moments_where_clocks_change(schedule: str, zone: str, now: str, moments: list[str]) -> None:
    found, moment = [], at(now)
    for _ in moments:
        following = after(parse(schedule, zone), moment)
        assert following is not None
        found.append(moment := following)

    assert found == [at(m) for m in moments]


@pytest.mark.parametrize(
    "schedule", ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "*/0 * * * *", "5-1 * * * *",
                 "a * * * *", "@never", "@every", "@every 1x", "* * * * 7", "1,,2 * * * *"],
)  # fmt: skip
def test_what_cannot_be_read_is_said(schedule: str) -> None:
    with pytest.raises(Invalid):
        parse(schedule)


def test_a_zone_that_is_nowhere_is_said() -> None:
    with pytest.raises(Invalid, match="unknown time zone Mars/Base"):
        parse("* * * * *", "Mars/Base")


@pytest.mark.parametrize(
    "schedule, since, last, count",
    [
        ("0 * * * *", timedelta(minutes=20), None, 0),
        ("0 * * * *", timedelta(hours=3), "2024-06-01 12:00", 3),
        ("* * * * *", timedelta(days=365), "2024-06-01 12:30", 101),
        ("0 0 * * *", timedelta(days=365), "2024-06-01 00:00", 101),
        ("@every 1m", timedelta(days=3), "2024-06-01 12:30", 101),
    ],
)
def test_only_the_newest_missed_moment_matters(
    schedule: str, since: timedelta, last: str | None, count: int
) -> None:
    now = at("2024-06-01 12:30")
    found = missed(parse(schedule), now - since, now)

    assert (found.last, found.count) == (at(last) if last else None, count)
