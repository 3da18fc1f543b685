"""How fast bytes come: read by so many at a time until the time or the bytes that were granted are used up.

Nothing here knows where the bytes come from; a reader gives the sizes of the pieces it has read, so that a
file larger than all that was granted is left in its middle.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import Failed

T = TypeVar("T")
Clock = Callable[[], float]


@dataclass
class Grant:
    """What one measurement may cost, shared by its readers."""

    seconds: float
    bytes: int
    clock: Clock = time.monotonic
    used: int = 0
    began: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def take(self, size: int) -> bool:
        """Note *size* bytes; whether there may be more."""
        with self._lock:
            self.used += size
        return self.left

    @property
    def left(self) -> bool:
        return self.used < self.bytes and self.clock() - self.began < self.seconds

    def check(self) -> None:
        """Raises `Failed` when the time is over: for steps that cannot be done by halves."""
        if self.clock() - self.began >= self.seconds:
            raise Failed(
                f"the source gave no file within {self.seconds:.0f} s, so that its speed is not known",
                next_step="measure longer, or name a source that is not one large archive",
            )

    @property
    def rate(self) -> float:
        """Bytes a second so far."""
        return self.used / max(self.clock() - self.began, 1e-6)


def measured(read: Callable[[T], Iterator[int]], items: Iterable[T], readers: int, grant: Grant) -> float:
    """Bytes a second at which *readers* at a time read *items*, each once. Raises what a reader raises."""
    waiting, lock = iter(items), threading.Lock()

    def work() -> None:
        while grant.left:
            with lock:
                item = next(waiting, None)
            if item is None:
                return
            for size in read(item):
                if not grant.take(size):
                    break

    with ThreadPoolExecutor(readers, thread_name_prefix="measuring") as pool:
        for done in [pool.submit(work) for _ in range(readers)]:
            done.result()
    return grant.rate


def spread(items: Sequence[T], parts: int, part: int) -> list[T]:
    """The items for one of several measurements: all over the list, and no item in two of them."""
    return list(items[part::parts]) or list(items)
