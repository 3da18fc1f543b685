"""Releases in steps: when a canary gets more, when it gets nothing more, and what is told of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW

from paddlecloud.api.paddlerelease import Gate, ReleasePhase, ReleaseSpec, ReleaseStatus, Tallied
from paddlecloud.controllers.servinggates import (
    LIMITS,
    Trial,
    breach,
    course,
    look_again,
    place_of,
    since,
    slowest,
)
from paddlecloud.controllers.servingstatus import steps_told

STEPS = ReleaseSpec(steps=[5, 50], step_seconds=60, min_requests=20, gate=Gate(error_percent=1))


def tally(requests: int, errors: int = 0, slow: int = 0, compared: int = 0, different: int = 0) -> Tallied:
    """Answers of 4 ms, and *slow* ones of 250 ms."""
    times = [0] * (len(LIMITS) + 1)
    times[place_of(4)], times[place_of(250)] = requests - slow, slow
    return Tallied(
        requests=requests, errors=errors, times=times, compared=compared, different=different
    )  # fmt: skip


def begun(release: ReleaseSpec = STEPS, before: Tallied | None = None) -> ReleaseStatus:
    state = course(release, None, Trial("s-canary", before), NOW)
    assert state is not None
    return state


def after(seconds: float, seen: Tallied | None, release: ReleaseSpec = STEPS, **trial: Any) -> ReleaseStatus:
    moment = NOW + timedelta(seconds=seconds)
    state = course(release, begun(release), Trial("s-canary", seen, **trial), moment)
    assert state is not None
    return state


def test_a_canary_begins_with_the_first_share_when_it_answers() -> None:
    assert course(STEPS, None, Trial(""), NOW) is None
    assert course(None, None, Trial("s-canary"), NOW) is None
    state = begun()
    assert (state.percent, state.step, state.phase) == (5, 0, ReleasePhase.STEPPING)
    assert look_again(STEPS, state, NOW) == 60


@pytest.mark.parametrize(
    "seconds, seen, phase, percent",
    [
        (59, tally(500), "Stepping", 5),
        (60, tally(500), "Stepping", 50),
        (60, tally(19), "Stepping", 5),  # too few to judge
        (600, None, "Stepping", 5),  # nobody counts
        (3, tally(100, errors=2), "RolledBack", 0),  # bad is seen at once
        (60, tally(100, errors=1), "Stepping", 50),  # as much as it may
        (3, tally(19, errors=19), "Stepping", 5),
    ],
)
def test_a_step_ends_when_its_time_is_over_and_its_gate_holds(
    seconds: float, seen: Tallied | None, phase: str, percent: int
) -> None:
    state = after(seconds, seen)

    assert (state.phase, state.percent) == (phase, percent)


def test_without_a_gate_time_alone_decides() -> None:
    state = after(60, None, ReleaseSpec(steps=[10, 20], step_seconds=60))

    assert (state.step, state.percent) == (1, 20)


def test_after_the_last_step_it_has_all_requests_and_stays_so() -> None:
    first = after(60, tally(500))
    done = course(STEPS, first, Trial("s-canary", tally(900)), NOW + timedelta(seconds=120))
    assert done and (done.phase, done.percent) == (ReleasePhase.DONE, 100)

    late = course(STEPS, done, Trial("s-canary", tally(2000, errors=1000)), NOW + timedelta(days=1))
    assert late == done
    assert look_again(STEPS, done, NOW) is None


def test_every_step_is_judged_by_itself() -> None:
    """Thirty failures of a thousand requests before are no failures of this step."""
    first = begun(before=tally(1000, errors=30))
    state = course(STEPS, first, Trial("s-canary", tally(1100, errors=30)), NOW + timedelta(seconds=60))

    assert state and state.percent == 50 and state.before == tally(1100, errors=30)


def test_a_gateway_that_started_again_counts_from_nothing() -> None:
    assert since(tally(30, errors=1), tally(1000)) == tally(30, errors=1)


def test_a_canary_that_fails_goes_back_whatever_was_counted() -> None:
    state = after(1, None, trouble="Container failed with: no such file")

    assert state.phase is ReleasePhase.ROLLED_BACK and "no such file" in state.reason
    [note] = steps_told(begun(), state)
    assert (note.type, note.reason) == ("Warning", "RolledBack") and "no such file" in note.message


def test_steps_that_are_edited_are_those_that_count() -> None:
    trial = Trial("s-canary", tally(7))
    blue_green = begun(STEPS.but(steps=[0]))
    state = course(STEPS, blue_green, trial, NOW + timedelta(seconds=90))
    assert state is not None and (state.step, state.percent, state.before) == (0, 5, tally(7))
    assert state.since == NOW + timedelta(seconds=90), "the new share has all of its time"

    shorter = course(STEPS.but(steps=[10]), state.but(step=1, percent=50), trial, NOW)
    assert shorter is not None and (shorter.step, shorter.percent) == (0, 10)


def test_another_canary_begins_anew() -> None:
    back = after(1, None, trouble="it failed")
    state = course(STEPS, back, Trial("s-canary-12345"), NOW)

    assert state and (state.canary, state.phase) == ("s-canary-12345", ReleasePhase.STEPPING)


def test_the_same_canary_is_tried_again_when_that_is_asked_for() -> None:
    back = after(1, None, trouble="it failed")
    again = STEPS.but(attempt="2")
    state = course(again, back, Trial("s-canary"), NOW)

    assert state and (state.attempt, state.phase, state.percent) == ("2", ReleasePhase.STEPPING, 5)
    assert course(again, state, Trial("s-canary"), NOW) == state
    assert course(STEPS, back, Trial("s-canary"), NOW) == back


@pytest.mark.parametrize(
    "gate, seen, words",
    [
        (Gate(), tally(100, errors=100), ""),
        (Gate(error_percent=1), tally(200, errors=3), "3 of 200 requests failed (1.5 %; at most 1 %)"),
        (Gate(p99_milliseconds=200), tally(100), ""),
        (Gate(p99_milliseconds=200), tally(100, slow=5), "the slowest of 100 of 100 requests took"),
        (Gate(difference_percent=0), tally(100, compared=50), ""),
        (Gate(difference_percent=1), tally(100, compared=50, different=2), "2 of 50 mirrored requests"),
    ],
)
def test_what_of_a_gate_does_not_hold(gate: Gate, seen: Tallied, words: str) -> None:
    said = breach(gate, seen)

    assert said.startswith(words) if words else said == ""


def test_a_gate_on_differences_waits_for_requests_that_were_compared() -> None:
    release = STEPS.but(gate=Gate(difference_percent=1), mirror_percent=10)

    assert after(60, tally(500, compared=9), release).percent == 5
    assert after(60, tally(500, compared=10), release).percent == 50
    assert after(5, tally(500, compared=10, different=1), release).phase is ReleasePhase.ROLLED_BACK


def test_blue_and_green_change_places_at_once_after_a_trial_with_copies() -> None:
    release = STEPS.but(steps=[0, 100], mirror_percent=100, gate=Gate(difference_percent=0))

    assert begun(release).percent == 0
    assert after(60, tally(30, compared=30), release).percent == 100


@pytest.mark.parametrize(
    "milliseconds, expected",
    [(0.4, (0, 1)), (4, (3, 5)), (200, (150, 200)), (40_000, (30_000, float("inf")))],
)
def test_the_slowest_of_a_hundred_is_found_between_two_limits(
    milliseconds: float, expected: tuple[float, float]
) -> None:
    times = [0] * (len(LIMITS) + 1)
    times[place_of(milliseconds)] = 100

    assert expected[0] < slowest(times) <= expected[1]
    assert slowest([0] * len(times)) == 0
