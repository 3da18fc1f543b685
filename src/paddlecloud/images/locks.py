"""Locks between processes: files held with flock, given up by the kernel when a holder dies.

A wait for a lock can be cancelled, and two tasks of one process exclude each other like two processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from ..errors import TimedOut

GLANCE = 0.1
"""Seconds between looks at a lock that another holds: a thread blocked on it could not be cancelled."""


@contextlib.asynccontextmanager
async def only_one(
    path: Path, waiting: Callable[[], None] = lambda: None, *, shared: bool = False
) -> AsyncIterator[None]:
    """Hold the lock at *path*, alone or among sharers; *waiting* is called once if another has it."""
    with opened(path) as descriptor:
        told = False
        while not taken(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if not told:
                waiting()
                told = True
            await asyncio.sleep(GLANCE)
        yield


@contextlib.contextmanager
def held(path: Path, *, shared: bool = False, patience: float = 30.0) -> Iterator[None]:
    """Hold the lock at *path* for a moment; raises `TimedOut` after *patience* seconds without it."""
    deadline = time.monotonic() + patience
    with opened(path) as descriptor:
        while not taken(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                raise TimedOut(
                    f"another process works with {path.parent}", next_step="try again when it is done"
                )
            time.sleep(GLANCE / 10)
        yield


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def taken(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
