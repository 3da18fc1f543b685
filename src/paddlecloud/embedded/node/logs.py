"""The log of a container run as a stream: its tail, its whole, or all that is still to come.

A log is the output as it came, without times: `sinceSeconds` can only leave out a log whose last line is
older than that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from . import attempts

PIECE = 64 * 1024
GLANCE = 0.1
"""Seconds between two looks at a log that is followed."""


@dataclass(frozen=True)
class LogQuery:
    tail_lines: int | None = None
    limit_bytes: int | None = None
    follow: bool = False
    since: float | None = None
    """Seconds since the epoch."""


async def stream(run_folder: Path, query: LogQuery) -> AsyncIterator[bytes]:
    """The log of one run; with `follow` until the run is over and everything has been read."""
    left = query.limit_bytes
    async for piece in whole(run_folder, query):
        if left is None:
            yield piece
            continue
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


async def whole(run_folder: Path, query: LogQuery) -> AsyncIterator[bytes]:
    path = run_folder / "log"
    while not path.exists():
        if not query.follow or attempts.read(run_folder).state.over:
            return
        await asyncio.sleep(GLANCE)
    with path.open("rb", buffering=0) as file:
        if query.since is not None and os.fstat(file.fileno()).st_mtime < query.since:
            file.seek(0, os.SEEK_END)
        elif query.tail_lines is not None:
            file.seek(tail_position(file.fileno(), query.tail_lines))
        while True:
            # Asked before reading: what is read afterwards is all there will ever be.
            over = not query.follow or attempts.read(run_folder).state.over
            while piece := file.read(PIECE):
                yield piece
            if over:
                return
            await asyncio.sleep(GLANCE)


def tail_position(descriptor: int, lines: int) -> int:
    """Where the last *lines* lines begin; read from the end, so a long log costs no more than its tail."""
    end = os.fstat(descriptor).st_size
    if lines <= 0 or end == 0:
        return end
    # The newline at the very end closes the last line and opens none.
    wanted = lines + (os.pread(descriptor, 1, end - 1) == b"\n")
    position = end
    while position > 0:
        start = max(0, position - PIECE)
        piece = os.pread(descriptor, position - start, start)
        count = piece.count(b"\n")
        if count >= wanted:
            at = len(piece)
            for _ in range(wanted):
                at = piece.rindex(b"\n", 0, at)
            return start + at + 1
        wanted -= count
        position = start
    return 0
