"""The release of a PaddleService in steps: what its canary must show before it gets more of the requests."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from .meta import Value

Percent = Annotated[int, Field(ge=0, le=100)]


class Gate(Value):
    """What a canary may not exceed; what is left out is not looked at."""

    error_percent: float | None = Field(None, ge=0, le=100)
    """Of its requests, those that failed."""
    p99_milliseconds: float | None = Field(None, ge=0)
    """The time within which 99 of 100 of its requests are answered."""
    difference_percent: float | None = Field(None, ge=0, le=100)
    """Of the mirrored requests, those it answered otherwise than the default."""


class ReleaseSpec(Value):
    """The shares of a canary, one after the other; after the last one it gets all requests."""

    steps: list[Percent] = Field([], max_length=20)
    """In percent. 0 gives it mirrored requests only; [0, 100] moves all at once after such a trial."""
    step_seconds: int = Field(60, ge=1, le=604800)
    """A step lasts no shorter."""
    min_requests: int = Field(50, ge=1)
    """Nor before the canary has answered so many requests in it, where there is a gate."""
    mirror_percent: Percent = 0
    """Of the default's requests, those the canary gets, too; their clients wait for the default alone."""
    gate: Gate = Gate()
    attempt: str = ""
    """Any text; another one tries the same canary again, whatever became of it before."""


class ReleasePhase(StrEnum):
    STEPPING = "Stepping"
    DONE = "Done"
    """It has all requests; `pdc serve promote` makes it the default of the spec."""
    ROLLED_BACK = "RolledBack"

    @property
    def final(self) -> bool:
        return self is not ReleasePhase.STEPPING


class Tallied(Value):
    """What a revision did since it was first asked, as the gateway counts."""

    requests: int = 0
    errors: int = 0
    times: list[int] = []
    """How many answers took how long; the limits are in `controllers.servinggates`."""
    compared: int = 0
    different: int = 0


class ReleaseStatus(Value):
    canary: str
    """The revision that is tried."""
    attempt: str = ""
    """Which attempt of the spec this is."""
    phase: ReleasePhase = ReleasePhase.STEPPING
    step: int = 0
    percent: int = 0
    since: datetime
    """When the step, or the end, began."""
    before: Tallied = Tallied()
    """What had been counted then."""
    reason: str = ""
    """Why it went on, or back."""
