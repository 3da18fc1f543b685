"""Which files a partition reads: what Paddle's DistributedBatchSampler gives to that rank in that epoch.

The order is the one that numpy's RandomState makes from the epoch, computed here: its generator is the one of
Python's `random`, only begun differently.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

Strategy = Literal["random", "sequence"]


def share(
    files: Sequence[str],
    partition: int,
    partitions: int,
    strategy: Strategy,
    batch_size: int = 1,
    epoch: int = 0,
) -> list[str]:
    """The files of *partition* in the order it reads them; those that fill the last round come twice."""
    if not files:
        return []
    each = -(-len(files) // partitions)
    order = list(range(len(files)))
    while len(order) < each * partitions:
        order += order[: each * partitions - len(order)]
    if strategy == "random":
        shuffle(order, epoch)
    # The last round is shorter, and is divided evenly.
    last = len(order) % (batch_size * partitions)
    whole, rest = order[: len(order) - last], order[len(order) - last :]
    mine: list[int] = []
    for start in range(partition * batch_size, len(whole), batch_size * partitions):
        mine += whole[start : start + batch_size]
    short = last // partitions
    mine += rest[partition * short : (partition + 1) * short]
    return [files[number] for number in mine]


def shuffle(order: list[int], seed: int) -> None:
    """As `numpy.random.RandomState(seed).shuffle(order)`."""
    generator = random.Random()
    generator.setstate((3, (*beginning(seed), 624), None))
    for last in range(len(order) - 1, 0, -1):
        mask = (1 << last.bit_length()) - 1
        while (chosen := generator.getrandbits(32) & mask) > last:
            pass
        order[last], order[chosen] = order[chosen], order[last]


def beginning(seed: int) -> list[int]:
    """The state in which a Mersenne Twister begins with a single number as its seed."""
    state = [seed & 0xFFFFFFFF]
    for position in range(1, 624):
        before = state[-1]
        state.append((1812433253 * (before ^ (before >> 30)) + position) & 0xFFFFFFFF)
    return state
