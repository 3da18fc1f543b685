"""Lines of logs: cut out of pieces, chosen by the options of a request, never told twice; pure.

A stamped line begins with its time, as a log with `timestamps=true` has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text that comes in pieces, without their ends; the last may lack its own."""
    kept = b""
    for piece in pieces:
        *lines, kept = (kept + piece).split(b"\n")
        yield from lines
    if kept:
        yield kept


def chosen(
    stamped: Iterable[bytes], query: Mapping[str, str], now: datetime | None = None
) -> Iterator[bytes]:
    """Of *stamped* lines those that `tailLines`, `sinceSeconds` and `sinceTime` ask for."""
    lines: Iterable[bytes] = stamped
    if since := beginning(query, now or datetime.now(UTC)):
        lines = (line for line in lines if time_of(line) >= since)
    if "tailLines" in query:
        lines = deque(lines, int(query["tailLines"]))
    for line in lines:
        yield line if query.get("timestamps") else unstamped(line)


def beginning(query: Mapping[str, str], now: datetime) -> datetime | None:
    if seconds := query.get("sinceSeconds"):
        return now - timedelta(seconds=int(seconds))
    text = query.get("sinceTime")
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def time_of(stamped: bytes) -> datetime:
    """When a line was written; the end of a broken one is as old as can be."""
    try:
        return datetime.fromisoformat(stamped.split(b" ", 1)[0].decode()).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)


def unstamped(line: bytes) -> bytes:
    return line.partition(b" ")[2]


class Resumption:
    """How far a log was read, so that who was cut off goes on where they were.

    A moment may have many lines, and some servers know seconds only: what comes again is dropped here.
    """

    def __init__(self) -> None:
        self._last, self._count = b"", 0

    @property
    def since(self) -> str:
        """The moment to ask from; empty: nothing was read."""
        return self._last.decode(errors="replace")

    def fresh(self, stamped: Iterable[bytes]) -> Iterator[bytes]:
        """The lines that were not told before; call it once for each time the log is opened."""
        last, told = self._last, self._count
        for line in stamped:
            stamp = line.split(b" ", 1)[0]
            if last and stamp < last:
                continue
            if last and stamp == last and told:
                told -= 1
                continue
            self._last, self._count = stamp, self._count + 1 if stamp == self._last else 1
            yield line
