"""The newest changes, in memory for watches that begin a little in the past: few enough, and small enough.

A change of a large object weighs as much as thousands of small ones, so bytes are counted too; what is
forgotten here is still on disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from .entries import Change

MOST_BYTES = 16 * 1024 * 1024


class Recent(deque[Change]):
    def __init__(self, changes: Iterable[Change] = (), maxlen: int | None = None) -> None:
        super().__init__(maxlen=maxlen)
        self.size = 0
        for change in changes:
            self.append(change)

    def append(self, change: Change) -> None:
        if self.maxlen is not None and len(self) == self.maxlen and self:
            self._forget()
        super().append(change)
        self.size += len(change.entry.value) if self else 0
        while self.size > MOST_BYTES and len(self) > 1:
            self._forget()

    def _forget(self) -> None:
        self.size -= len(self.popleft().entry.value)
