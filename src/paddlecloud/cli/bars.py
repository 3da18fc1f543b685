"""Progress bars for images, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ..images.steps import Step


@contextmanager
def bar(what: str) -> Iterator[Callable[[int], None]]:
    """One bar for bytes of unknown number; silent where nobody looks."""
    with bars_on(sys.stderr) as progress:
        task = progress.add_task(what, total=None)
        yield lambda count: progress.advance(task, count)


@contextmanager
def bars() -> Iterator[Callable[[Step], None]]:
    """One bar for each part of an image."""
    with bars_on(sys.stderr) as progress:
        tasks: dict[tuple[str, str], TaskID] = {}

        def report(step: Step) -> None:
            key = step.doing, step.digest
            if key not in tasks:
                tasks[key] = progress.add_task(f"{step.doing} {step.digest[7:19]}", total=step.total or None)
            progress.update(tasks[key], completed=step.done)

        yield report


@contextmanager
def bars_on(stream: TextIO) -> Iterator[Progress]:
    console = Console(file=stream)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress
