"""When waiting requests go to the engine, and which of them together."""

import pytest

from paddlecloud.serving.batching import QUICK, REMEMBERED, Hold, Rule, Send, Waiting, decide, quick


def queue(text: str, arrived: float = 0.0) -> list[Waiting]:
    """`a1 b2`: a request of kind a with one row, then one of kind b with two."""
    return [Waiting(part[0], int(part[1:]), arrived) for part in text.split()]


@pytest.mark.parametrize(
    "waiting, positions",
    [
        ("a1", [0]),
        ("a1 a1 a1", [0, 1, 2]),
        ("a1 b1 a1", [0, 2]),
        ("b1 a1 a1", [0]),
        ("a3 a1 a1", [0, 1]),
        ("a2 a3 a1", [0]),
        ("a9 a1", [0]),
        ("a4 a1", [0]),
        ("a1 b1 a1 b1 a1 a1 a1", [0, 2, 4, 5]),
    ],
    ids=[
        "one",
        "all of one kind",
        "another kind waits",
        "the oldest decides the kind",
        "up to the most rows",
        "nobody overtakes one of its kind",
        "one that is too large goes alone",
        "a full one takes nobody along",
        "the oldest of the kind first",
    ],
)
def test_what_goes_together(waiting: str, positions: list[int]) -> None:
    assert decide(queue(waiting), 0.0, Rule(most_rows=4)) == Send(positions)


@pytest.mark.parametrize(
    "waiting, now, decision",
    [
        ("a1", 10.000, Hold(10.005)),
        ("a1", 10.004, Hold(10.005)),
        ("a1", 10.005, Send([0])),
        ("a1 a1", 10.001, Hold(10.005)),
        ("a2 a2", 10.001, Send([0, 1])),
        ("a3 a2", 10.001, Send([0])),
        ("a9", 10.001, Send([0])),
        ("a1 b4", 10.001, Hold(10.005)),
    ],
    ids=[
        "held for company",
        "still held",
        "no longer than the bound",
        "company that leaves room",
        "full",
        "the next one does not fit",
        "too large to have company",
        "others do not end the hold",
    ],
)
def test_how_long_the_oldest_is_held(waiting: str, now: float, decision: Send | Hold) -> None:
    assert decide(queue(waiting, arrived=10.0), now, Rule(most_rows=4, longest_hold=0.005)) == decision


def test_without_batching_each_goes_alone() -> None:
    assert decide(queue("a1 a1"), 0.0, Rule(most_rows=1)) == Send([0])


@pytest.mark.parametrize(
    "short, long, at_once",
    [
        (REMEMBERED, 0, True),
        (REMEMBERED - 1, 0, False),
        (REMEMBERED - 1, 1, True),
        (REMEMBERED - 2, 2, False),
    ],
    ids=["always short", "not known yet", "disturbed once", "long now and then"],
)
def test_only_work_that_was_always_short_is_done_on_the_loop(short: int, long: int, at_once: bool) -> None:
    assert quick([QUICK / 2] * short + [QUICK * 9] * long) is at_once
