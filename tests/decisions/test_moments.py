"""Moments as people say them."""

from __future__ import annotations

from datetime import datetime

import pytest

from paddlecloud.cli.moments import moment_of
from paddlecloud.errors import WrongUse

NOW = datetime(2026, 11, 18, 11, 30)


@pytest.mark.parametrize(
    "text, day, clock",
    [
        ("2026-11-16 14:03", 16, "14:03:00"),
        ("2026-11-16T14:03:05", 16, "14:03:05"),
        ("2026-11-16", 16, "00:00:00"),
        ("14:03", 18, "14:03:00"),
        ("today 09:30:10", 18, "09:30:10"),
        ("yesterday 14:03", 17, "14:03:00"),
        ("14:03 Yesterday", 17, "14:03:00"),
    ],
)
def test_what_a_text_means(text: str, day: int, clock: str) -> None:
    meant = moment_of(text, NOW)

    assert meant.tzinfo is not None and (meant.day, meant.strftime("%H:%M:%S")) == (day, clock)


def test_a_time_with_its_zone_is_that_moment() -> None:
    assert moment_of("2026-11-16T14:03+00:00", NOW).timestamp() == 1794837780


@pytest.mark.parametrize("text", ["", "yesterday", "25:00", "yesterday noon", "yesterday 14:03 sharp"])
def test_what_is_no_time_is_told_how_to_write_one(text: str) -> None:
    with pytest.raises(WrongUse, match="is no time") as told:
        moment_of(text, NOW)

    assert "'yesterday 14:03'" in told.value.next_step
