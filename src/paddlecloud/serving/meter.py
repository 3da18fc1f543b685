"""How busy a revision is: requests under way, averaged over time, and requests that came in a second.

Time is an argument and only ever moves on. A request counts from its arrival, also while it is held.
"""

from __future__ import annotations

import math


class Meter:
    """The last *longest* seconds of one revision, second by second."""

    def __init__(self, now: float, longest: int = 3600) -> None:
        self.under_way = 0
        self._longest = longest
        self._until = self._heard = now
        self._areas: dict[int, float] = {}
        """Request seconds of each second in which there were any."""
        self._counts: dict[int, int] = {}

    def came(self, now: float) -> None:
        self._advance(now)
        self.under_way += 1
        self._heard = now
        second = math.floor(now)
        self._counts[second] = self._counts.get(second, 0) + 1

    def went(self, now: float) -> None:
        self._advance(now)
        self.under_way -= 1
        self._heard = now

    def silent(self, now: float, seconds: float) -> bool:
        """Whether nothing was under way in the last *seconds*."""
        return not self.under_way and now - self._heard > seconds

    def concurrency(self, now: float, seconds: float) -> float:
        """Requests under way, on average over the last *seconds*."""
        self._advance(now)
        first = math.ceil(now - seconds)
        return sum(area for second, area in self._areas.items() if second >= first) / seconds

    def rate(self, now: float, seconds: float) -> float:
        """Requests a second that came in the last *seconds*."""
        self._advance(now)
        first = math.ceil(now - seconds)
        return sum(count for second, count in self._counts.items() if second >= first) / seconds

    def _advance(self, now: float) -> None:
        start = max(self._until, now - self._longest)
        while self.under_way and start < now:
            second = math.floor(start)
            end = min(now, second + 1.0)
            self._areas[second] = self._areas.get(second, 0.0) + self.under_way * (end - start)
            start = end
        if math.floor(now) != math.floor(self._until):
            oldest = math.floor(now - self._longest)
            self._areas = {s: a for s, a in self._areas.items() if s >= oldest}
            self._counts = {s: c for s, c in self._counts.items() if s >= oldest}
        self._until = max(self._until, now)
