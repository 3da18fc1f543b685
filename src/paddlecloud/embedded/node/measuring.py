"""What containers use right now, measured when somebody asks: a node that nobody asks does nothing.

Cpu use is a difference of two looks. The first look of a question may be the last one of an earlier question,
if that is neither too fresh nor too old; else the question takes as long as the window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from .podfolder import PodFolder, Record
from .sandbox.usage import Usage, usage

WINDOW = 1.0
"""Seconds between two looks, at least."""
STALE = 60.0
KEPT = 15.0

Look = dict[tuple[str, str], Usage]


@dataclass(frozen=True)
class Measured:
    record: Record
    container: str
    cores: float
    cpu_seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class Measurement:
    at: float
    """Seconds since the epoch."""
    window: float
    containers: tuple[Measured, ...]


class Measuring:
    def __init__(self, folders: Callable[[], list[PodFolder]], now: Callable[[], float]) -> None:
        self._folders, self._now = folders, now
        self._base: tuple[float, Look] | None = None
        self._latest: Measurement | None = None
        self._asking = asyncio.Lock()

    async def measured(self) -> Measurement:
        async with self._asking:
            now = self._now()
            if self._latest is not None and 0 <= now - self._latest.at < WINDOW:
                return self._latest
            if self._base is None or not 0 <= now - self._base[0] < STALE:
                self._base = (now, (await asyncio.to_thread(self._look))[0])
            if (age := self._now() - self._base[0]) < WINDOW:
                await asyncio.sleep(WINDOW - age)
            look, records = await asyncio.to_thread(self._look)
            now, (then, before) = self._now(), self._base
            containers = tuple(
                Measured(records[uid], name, cores(before.get((uid, name)), used, now - then), *used)
                for (uid, name), used in look.items()
            )
            self._latest = Measurement(now, now - then, containers)
            if now - then > KEPT:
                self._base = (now, look)
            return self._latest

    def _look(self) -> tuple[Look, dict[str, Record]]:
        records = {record.uid: (folder, record) for folder in self._folders() if (record := folder.record())}
        look = {
            (uid, name): used for uid, (folder, _) in records.items() for name, used in usage(folder).items()
        }
        return look, {uid: record for uid, (_, record) in records.items()}


def cores(before: Usage | None, now: Usage, seconds: float) -> float:
    """How many cores were busy in between; a container that began meanwhile counts from its beginning."""
    started = before.cpu_seconds if before is not None and before.cpu_seconds <= now.cpu_seconds else 0.0
    return (now.cpu_seconds - started) / seconds if seconds > 0 else 0.0
