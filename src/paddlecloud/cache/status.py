"""What a runtime says about itself: pure functions of what was seen. Sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .engine import Amount, Holding
from .operations import Operation, Status
from .sourcewatch import SourceSight


class Phase(StrEnum):
    IDLE = "Idle"
    SYNCING = "Syncing"
    VERIFYING = "Verifying"
    SYNCED = "Synced"
    CLEARED = "Cleared"
    """Copies were dropped, by an operation or by hand: who mounts the data does not find all of it."""
    FAILED = "Failed"


@dataclass(frozen=True)
class Seen:
    """A runtime at one moment."""

    holding: Holding
    running: Operation | None = None
    verifying: bool = False
    wrong: str = ""
    """What the look at the volume found."""
    last_sync: Operation | None = None
    amount: Amount | None = None
    """How far the work under way is."""
    seconds: float = 0.0
    """Since when it is under way."""
    trouble: str = ""
    """Why the volume could not be looked at."""
    source: SourceSight = field(default_factory=SourceSight)


def cache_info(seen: Seen, engine: str, partition: int) -> dict[str, Any]:
    """The JSON of `/cacheStatus/cacheInfo.json`."""
    phase, message = phase_of(seen, whole=engine == "local")
    holding = seen.holding
    return {
        "totalSize": holding.total_bytes,
        "totalFiles": holding.total_files,
        "cachedSize": holding.cached_bytes,
        "cachedFiles": holding.cached_files,
        "diskSize": holding.disk_size,
        "diskUsed": holding.disk_used,
        "diskAvail": holding.disk_avail,
        "errorMassage": message if phase is Phase.FAILED else "",
        "revision": holding.revision,
        "sourceState": seen.source.state,
        "sourceMessage": seen.source.message,
        "phase": phase,
        "message": message,
        "progress": progress(seen.amount, seen.seconds),
        "engine": engine,
        "partition": partition,
    }


def phase_of(seen: Seen, *, whole: bool) -> tuple[Phase, str]:
    """*whole*: what is not cached cannot be read."""
    if seen.trouble:
        return Phase.FAILED, seen.trouble
    if seen.verifying:
        return Phase.VERIFYING, "looking at the files"
    if seen.running is not None and seen.running.kind == "sync":
        return Phase.SYNCING, told(seen.amount)
    if seen.wrong:
        return Phase.FAILED, seen.wrong
    if seen.last_sync is not None and seen.last_sync.status is Status.FAIL:
        return Phase.FAILED, seen.last_sync.message
    if whole and seen.holding.cached_files < seen.holding.total_files:
        here = f"{seen.holding.cached_files} of {seen.holding.total_files} files are here"
        return Phase.CLEARED, f"{here}; a warm-up or a sync brings the others"
    if seen.holding.revision and seen.holding.total_files:
        files = seen.holding.total_files
        return Phase.SYNCED, "1 file" if files == 1 else f"{files} files"
    return Phase.IDLE, ""


def progress(amount: Amount | None, seconds: float) -> dict[str, Any] | None:
    """How far, how fast, how long yet; None when nothing is under way."""
    if amount is None:
        return None
    rate = amount.bytes / seconds if seconds > 0 else 0.0
    left = amount.total_bytes - amount.bytes
    return {
        "done": amount.bytes,
        "total": amount.total_bytes,
        "unit": "bytes",
        "rate": round(rate, 1),
        "etaSeconds": round(left / rate, 1) if rate else None,
        "message": told(amount),
    }


def told(amount: Amount | None) -> str:
    return (
        f"{amount.files} of {amount.total_files} files"
        if amount and amount.total_files
        else "listing the source"
    )
