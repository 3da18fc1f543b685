"""Forecast: what a data set would take to warm and to read, predicted from a few seconds of measuring."""

from __future__ import annotations

from datetime import datetime

from .meta import Value


class Speeds(Value):
    """What the runtime of the slowest partition measured; bytes a second."""

    link: float = 0
    """From the source, as many files at a time as a warm-up takes."""
    cold: float = 0
    """From the source, by as many readers as the training has."""
    near: float = 0
    """From the disk of the node, by as many readers."""


class Forecast(Value):
    """A prediction, and what it was made from; times are seconds, 0 where nothing is known."""

    job: str = ""
    """The PaddleJob it was made for."""
    made_at: datetime | None = None
    bytes: int = 0
    """Of the whole set."""
    files: int = 0
    missing: int = 0
    """Bytes that the partition that has the least would still have to fetch."""
    workers: int = 0
    readers: int = 0
    """Of each worker."""
    speeds: Speeds = Speeds()
    warm_seconds: float = 0
    """To warm what is missing."""
    cold_epoch_seconds: float = 0
    """One epoch that reads everything over the link."""
    warm_epoch_seconds: float = 0
    """One epoch that reads from the disks of the nodes."""
    gain: float = 0
    """How many times as fast a warm epoch is."""
    pays_after: float = 0
    """Epochs after which warming has cost less than it saved; 0: it does not pay."""


class Outcome(Value):
    """What an operation did, over all runtimes."""

    files: int = 0
    bytes: int = 0
    copied: int = 0
    skipped: int = 0
    deleted: int = 0
    seconds: float = 0
    """Of the runtime that took longest."""
