"""Samples shared by a changing number of workers: each once an epoch, in one order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlecloud.sdk.sampling import ElasticBatchSampler


def a_step(sampler: ElasticBatchSampler, size: int, step: int) -> list[list[int]]:
    return [
        list(ElasticBatchSampler(sampler.length, sampler.batch_size, sampler.seed, sampler.epoch,
                                 sampler.taken, rank, size))[step]
        for rank in range(size)
    ]  # fmt: skip


@given(
    length=st.integers(1, 120),
    batch=st.integers(1, 9),
    sizes=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=8),
    epoch=st.integers(0, 3),
)
def test_every_sample_is_taken_once_whatever_the_numbers_of_workers(
    length: int, batch: int, sizes: list[tuple[int, int]], epoch: int
) -> None:
    taken, seen, turn = 0, [], 0
    while taken < length:
        size, steps = sizes[turn % len(sizes)]
        turn += 1
        sampler = ElasticBatchSampler(length, batch, 5, epoch, taken, 0, size)
        done = min(steps, len(sampler))
        for step in range(done):
            parts = a_step(sampler, size, step)
            assert max(map(len, parts)) - min(map(len, parts)) <= 1
            seen += [number for part in parts for number in part]
        taken = sampler.taken_after(done)
        assert len(seen) == taken
    whole = [n for part in ElasticBatchSampler(length, length, 5, epoch, 0, 0, 1) for n in part]
    assert seen == whole and sorted(seen) == list(range(length))


def test_every_worker_takes_as_many_steps() -> None:
    for length in range(8, 40):
        steps = {len(list(ElasticBatchSampler(length, 4, rank=r, size=3))) for r in range(3)}
        assert steps == {len(ElasticBatchSampler(length, 4, rank=0, size=3))}
        assert all(part for r in range(3) for part in ElasticBatchSampler(length, 4, rank=r, size=3)), (
            "a worker without samples"
        )


def test_epochs_have_orders_of_their_own() -> None:
    first, second = (next(iter(ElasticBatchSampler(50, 50, epoch=e, rank=0, size=1))) for e in (0, 1))
    assert first != second


def test_who_one_is_comes_from_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    assert list(ElasticBatchSampler(6, 2)) == list(ElasticBatchSampler(6, 2, rank=1, size=2))


@pytest.mark.parametrize(
    "given", [{"batch_size": 0}, {"taken": 11}, {"taken": -1}, {"length": -1}, {"rank": 2, "size": 2}]
)
def test_nonsense_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"batch|counted from 0"):
        list(ElasticBatchSampler(**{"length": 10, "batch_size": 2, **given}))
