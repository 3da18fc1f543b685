"""Measuring speeds: bounded in time and bytes, whatever there is to read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddlecloud.cache.measuring import Grant, measured, spread
from paddlecloud.errors import Failed


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    "files, pieces, seconds, most, read",
    [
        (3, 2, 100.0, 10**9, 6_000),
        (10**9, 2, 4.0, 10**9, 4_000),
        (10**9, 2, 100.0, 5_000, 5_000),
        (1, 10**9, 4.0, 10**9, 4_000),
    ],
    ids=["all there is", "until the time is over", "until the bytes are", "in the middle of a file"],
)
def test_a_measurement_ends_with_what_there_is_or_what_was_granted(
    files: int, pieces: int, seconds: float, most: int, read: int
) -> None:
    clock = Clock()

    def reading(_: int) -> Iterator[int]:
        for _ in range(pieces):
            clock.now += 1.0
            yield 1_000

    grant = Grant(seconds, most, clock)
    assert measured(reading, range(files), 1, grant) == pytest.approx(1_000)
    assert grant.used == read


def test_what_a_reader_raises_is_raised() -> None:
    def broken(_: int) -> Iterator[int]:
        yield 1
        raise Failed("the link is cut")

    with pytest.raises(Failed, match="cut"):
        measured(broken, range(3), 2, Grant(5.0, 10**6))


def test_a_step_that_cannot_be_done_by_halves_is_given_up_in_time() -> None:
    clock = Clock()
    grant = Grant(3.0, 1, clock)
    grant.check()
    clock.now = 3.0
    with pytest.raises(Failed, match="no file within 3 s"):
        grant.check()


@pytest.mark.parametrize(
    "items, expected", [([1, 2, 3, 4, 5], ([1, 3, 5], [2, 4])), ([1], ([1], [1])), ([], ([], []))]
)
def test_two_measurements_share_the_files(items: list[int], expected: tuple[list[int], list[int]]) -> None:
    assert (spread(items, 2, 0), spread(items, 2, 1)) == expected
