"""The queue: one date a key, never two looks at one key at a time."""

from __future__ import annotations

import asyncio

import pytest

from paddlecloud.api.meta import Key
from paddlecloud.controllers.queue import Queue, Schedule

A, B = Key("ml", "a"), Key("ml", "b")


def taken(schedule: Schedule, now: float) -> list[str]:
    """The names of everything that is due."""
    names = []
    while key := schedule.take(now):
        names.append(key.name)
    return names


def test_a_key_woken_often_is_looked_at_once() -> None:
    schedule = Schedule()
    for at in (0.0, 1.0, 2.0):
        schedule.wake(A, at)

    assert taken(schedule, 5.0) == ["a"]


def test_keys_come_in_the_order_of_their_dates() -> None:
    schedule = Schedule()
    schedule.wake(A, 3.0)
    schedule.wake(B, 2.0)

    assert schedule.next_due() == 2.0
    assert taken(schedule, 1.9) == []
    assert taken(schedule, 3.0) == ["b", "a"]


def test_an_earlier_date_wins_over_a_later_one() -> None:
    schedule = Schedule()
    schedule.wake(A, 30.0)
    schedule.wake(A, 1.0)
    schedule.wake(A, 20.0)

    assert taken(schedule, 1.0) == ["a"]
    schedule.succeeded(A, None)
    assert taken(schedule, 99.0) == []


def test_a_key_woken_during_its_look_is_looked_at_again_after_it() -> None:
    schedule = Schedule()
    schedule.wake(A, 0.0)
    assert taken(schedule, 0.0) == ["a"]
    schedule.wake(A, 0.0)

    assert taken(schedule, 0.0) == []
    assert schedule.next_due() is None
    schedule.succeeded(A, None)
    assert taken(schedule, 0.0) == ["a"]


def test_a_look_may_ask_for_the_next_one() -> None:
    schedule = Schedule()
    schedule.wake(A, 0.0)
    schedule.take(0.0)
    schedule.succeeded(A, 10.0)

    assert taken(schedule, 9.9) == []
    assert taken(schedule, 10.0) == ["a"]


def test_a_key_that_rests_holds_up_nobody_and_misses_nothing() -> None:
    schedule = Schedule()
    for key in (A, B):
        schedule.wake(key, 0.0)
    assert taken(schedule, 0.0) == ["a", "b"]
    schedule.wake(A, 0.0)  # during its look
    schedule.succeeded(A, None, rested=5.0)
    schedule.succeeded(B, None)
    schedule.wake(A, 1.0)
    schedule.wake(B, 1.0)

    assert taken(schedule, 1.0) == ["b"]
    assert schedule.next_due() == 5.0
    assert taken(schedule, 5.0) == ["a"]
    schedule.succeeded(A, None)
    schedule.wake(A, 6.0)
    assert taken(schedule, 6.0) == ["a"]


def test_a_date_within_the_rest_is_kept_after_it() -> None:
    schedule = Schedule()
    schedule.wake(A, 0.0)
    schedule.take(0.0)
    schedule.succeeded(A, 2.0, rested=5.0)

    assert taken(schedule, 4.9) == []
    assert taken(schedule, 5.0) == ["a"]


def test_failures_are_repeated_ever_more_slowly_up_to_a_limit_and_forgotten_by_success() -> None:
    schedule, pauses = Schedule(), []
    schedule.wake(A, 0.0)
    for _ in range(12):
        schedule.take(1e9)
        schedule.failed(A, 0.0, luck=1.0)
        pauses.append(schedule.next_due())
    assert pauses[:4] == [0.05, 0.1, 0.2, 0.4]
    assert pauses[-2:] == [30.0, 30.0]

    schedule.take(1e9)
    schedule.succeeded(A, 0.0)
    schedule.take(0.0)
    schedule.failed(A, 0.0, luck=1.0)
    assert schedule.next_due() == 0.05


def test_a_failing_key_does_not_hold_up_the_others() -> None:
    schedule = Schedule()
    schedule.wake(A, 0.0)
    schedule.take(0.0)
    schedule.failed(A, 0.0, luck=1.0)
    schedule.wake(B, 0.0)

    assert taken(schedule, 0.0) == ["b"]


@pytest.mark.parametrize("workers", [1, 3])
async def test_waiting_workers_share_what_comes(workers: int) -> None:
    time = 0.0
    queue = Queue(lambda: time, lambda: 1.0)
    waiting = [asyncio.create_task(queue.take()) for _ in range(workers)]
    await asyncio.sleep(0)
    queue.wake(A)
    queue.wake(A)
    queue.wake(B)

    async with asyncio.timeout(5):
        done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < min(workers, 2):
            more, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            done |= more
    assert sorted(t.result().name for t in done) == (["a"] if workers == 1 else ["a", "b"])
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


async def test_a_date_that_comes_wakes_a_worker_by_itself() -> None:
    queue = Queue(asyncio.get_running_loop().time, lambda: 1.0)
    queue.wake(A)
    queue.succeeded(await queue.take(), again=0.02)

    assert await asyncio.wait_for(queue.take(), 5) == A


@pytest.mark.parametrize("steps", range(5))
async def test_who_is_told_to_end_while_it_is_woken_ends(steps: int) -> None:
    queue = Queue(asyncio.get_running_loop().time, lambda: 1.0)
    queue.wake(A)
    queue.succeeded(await queue.take(), 60.0)

    async def work() -> None:
        while True:
            queue.succeeded(await queue.take(), 60.0)

    task = asyncio.create_task(work())
    for _ in range(5):
        await asyncio.sleep(0)
    queue.wake(A)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    ended, _ = await asyncio.wait([task], timeout=5)
    task.cancel()
    assert task in ended and task.cancelled()
