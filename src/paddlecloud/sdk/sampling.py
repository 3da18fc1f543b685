"""Batches of samples that several workers share, with none lost and none doubled when their number changes.

The order of an epoch depends on the seed and the epoch alone, never on how many workers there are: each step
takes the next samples of that order, as many as all workers together can hold, and every worker its part of
them. Whoever goes on after so many samples, with however many workers, goes on in the same order.

Only the standard library is used here: a training image need not have anything of the platform installed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ElasticBatchSampler:
    """The numbers of the samples of one epoch, in batches, for one of the workers.

    `paddle.io.DataLoader(data, batch_sampler=ElasticBatchSampler(len(data), 32, epoch=3, taken=640))`
    """

    length: int
    """Samples in the data set."""
    batch_size: int
    """Samples of a step in one worker."""
    seed: int = 0
    epoch: int = 0
    taken: int = 0
    """Samples of this epoch that were trained on before, by whatever number of workers."""
    rank: int | None = None
    """Which worker this is; by default PADDLE_TRAINER_ID."""
    size: int | None = None
    """How many there are; by default PADDLE_TRAINERS_NUM."""

    def __post_init__(self) -> None:
        if self.length < 0 or self.batch_size < 1 or not 0 <= self.taken <= max(0, self.length):
            raise ValueError(
                f"{self.length} samples in batches of {self.batch_size} after {self.taken}: a batch has at "
                "least one sample, and no more can be taken than there are"
            )

    def __iter__(self) -> Iterator[list[int]]:
        order = list(range(self.length))
        random.Random(f"{self.seed} {self.epoch}").shuffle(order)
        start, rank, size = self.taken, *self._place()
        for end in self._ends():
            together = order[start:end]
            share, rest = divmod(len(together), size)
            first = rank * share + min(rank, rest)
            yield together[first : first + share + (rank < rest)]
            start = end

    def __len__(self) -> int:
        """Steps: the same for every worker, so that none waits for one that has ended."""
        return len(self._ends())

    def taken_after(self, steps: int) -> int:
        """Samples of the epoch that all workers have trained on by then: keep it with the model."""
        return self._ends()[steps - 1] if steps > 0 else self.taken

    def _ends(self) -> list[int]:
        """Where each step ends in the order of the epoch."""
        _, size = self._place()
        step = size * self.batch_size
        ends = list(range(self.taken + step, self.length + 1, step))
        left = self.length - (ends[-1] if ends else self.taken)
        if ends and left < size:
            ends[-1] = self.length  # too few for a step of their own: somebody would have none
        elif left:
            ends.append(self.length)
        return ends

    def _place(self) -> tuple[int, int]:
        rank = self.rank if self.rank is not None else int(os.environ.get("PADDLE_TRAINER_ID", "0"))
        size = self.size if self.size is not None else int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
        if not 0 <= rank < size:
            raise ValueError(f"worker {rank} of {size}: workers are counted from 0")
        return rank, size
