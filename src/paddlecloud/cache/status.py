"""What a runtime says about itself at `/status`: a pure function of its state, the disk and the time."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .engine import Amount, Contents, Usage


class Phase(StrEnum):
    SYNCING = "Syncing"
    SYNCED = "Synced"
    FAILED = "Failed"


@dataclass(frozen=True)
class State:
    """How far the runtime has come."""

    phase: Phase = Phase.SYNCING
    message: str = ""
    amount: Amount = field(default_factory=Amount)
    contents: Contents | None = None
    """Set when everything is there and verified."""
    since: float = 0.0
    """When the present attempt began, by a clock that only goes forward."""


def document(state: State, usage: Usage, now: float) -> dict[str, Any]:
    """The JSON of `/status`; sizes in bytes."""
    amount = state.amount
    if state.contents is not None:
        whole = len(state.contents.files), state.contents.size
        amount = Amount(*whole, *whole)
    rate = amount.bytes / (now - state.since) if state.contents is None and now > state.since else 0.0
    return {
        "phase": state.phase,
        "message": state.message,
        "totalBytes": amount.total_bytes,
        "totalFiles": amount.total_files,
        "cachedBytes": amount.bytes,
        "cachedFiles": amount.files,
        "diskSize": usage.size,
        "diskUsed": usage.used,
        "diskAvail": usage.available,
        "revision": state.contents.revision if state.contents else "",
        "progress": {
            "done": amount.bytes,
            "total": amount.total_bytes,
            "unit": "bytes",
            "rate": round(rate, 1),
        },
    }
