"""Whom the next client of a Service is sent to: in turn, or where it was before.

Time is an argument, and there is no clean-up beside the work: clients that have not been seen for longer
than the affinity lasts are dropped while others are looked up.
"""

from __future__ import annotations

from .routing import Behind, Endpoint

MOST_CLIENTS = 10_000


class Turns:
    """The memory of one place: whose turn it is, and which client is where."""

    def __init__(self) -> None:
        self._turn = 0
        self._clients: dict[str, tuple[Endpoint, float]] = {}

    def candidates(self, behind: Behind, client: str, now: float) -> list[Endpoint]:
        """Whom to try, in this order: the client's own endpoint if it has one, then the others in turn."""
        if not behind.endpoints:
            return []
        first = self._turn % len(behind.endpoints)
        ordered = [*behind.endpoints[first:], *behind.endpoints[:first]]
        known, seen = self._clients.get(client, (None, 0.0))
        if behind.affinity and known in behind.endpoints and now - seen <= behind.affinity:
            ordered.sort(key=lambda endpoint: endpoint != known)
        else:
            self._turn += 1
        return ordered

    def answered(self, behind: Behind, client: str, endpoint: Endpoint, now: float) -> None:
        """*client* is connected with *endpoint* now."""
        if not behind.affinity:
            return
        # Put back at the end, the first ones are those not seen for the longest time.
        self._clients.pop(client, None)
        self._clients[client] = (endpoint, now)
        while self._clients:
            oldest = next(iter(self._clients))
            if len(self._clients) <= MOST_CLIENTS and now - self._clients[oldest][1] <= behind.affinity:
                return
            del self._clients[oldest]
