"""The log of a container run as a stream: its tail, its whole, or all that is still to come.

Read from the files its shim writes (`logfile`), which outlive the shim and every process of ours: whoever
starts to read later reads the same. Lines come whole, also those written in pieces.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from . import attempts
from .logfile import name_of
from .logplaces import since_offset, tail_start

PIECE = 256 * 1024
GLANCE = 0.1
"""Seconds between two looks at a log that is followed."""
LINE = re.compile(rb"^(\S+) \S+ ([FP]) ([^\n]*\n)", re.MULTILINE)
PARTIAL = re.compile(rb"^\S+ \S+ P ", re.MULTILINE)
FULL = re.compile(rb"^(\S+ )\S+ F ", re.MULTILINE)


@dataclass(frozen=True)
class LogQuery:
    tail_lines: int | None = None
    limit_bytes: int | None = None
    follow: bool = False
    since: str = ""
    """Only lines of this time or later, written as in the files."""
    timestamps: bool = False


async def stream(run_folder: Path, query: LogQuery) -> AsyncIterator[bytes]:
    """The log of one run; with `follow` until the run is over and everything has been read."""
    left = query.limit_bytes
    joiner = Joiner(query.timestamps)
    async for lines in raw(run_folder, query):
        piece = joiner.told(lines)
        if left is None:
            yield piece
            continue
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


async def raw(run_folder: Path, query: LogQuery) -> AsyncIterator[bytes]:
    """Whole lines of the files, several at a time, from where *query* begins."""
    while not numbers(run_folder):
        if not query.follow or is_over(run_folder):
            return
        await asyncio.sleep(GLANCE)
    number, offset = beginning(run_folder, query)
    while True:
        file = opened(run_folder, number)
        if file is not None:
            with os.fdopen(file, "rb", buffering=0) as reading:
                reading.seek(offset)
                async for lines in of_file(run_folder, reading.fileno(), number, query.follow):
                    yield lines
        later = [other for other in numbers(run_folder) if other > number]
        if not later:
            return
        number, offset = later[0], 0


async def of_file(run_folder: Path, file: int, number: int, follow: bool) -> AsyncIterator[bytes]:
    """The lines of one file until it has a successor, or until nobody writes any more."""
    kept = b""
    while True:
        # Asked before reading: what is read afterwards is all there will ever be.
        complete = any(other > number for other in numbers(run_folder))
        over = complete or not follow or is_over(run_folder)
        while piece := os.read(file, PIECE):
            lines, newline, rest = (kept + piece).rpartition(b"\n")
            kept = rest
            if newline:
                yield lines + newline
        if over:
            return
        await asyncio.sleep(GLANCE)


def is_over(run_folder: Path) -> bool:
    """Whether nobody writes any more: the run has ended, or its pod is being removed."""
    try:
        return not run_folder.is_dir() or attempts.read(run_folder).state.over
    except FileNotFoundError:
        return True


class Joiner:
    """Lines of the files as the container wrote them, with their times if wanted."""

    def __init__(self, timestamps: bool) -> None:
        self._timestamps = timestamps
        self._inside = False
        """Whether the last line was a piece, so that the next one goes on with it."""

    def told(self, lines: bytes) -> bytes:
        if not self._inside and not PARTIAL.search(lines):
            return FULL.sub(rb"\1" if self._timestamps else b"", lines)
        return LINE.sub(self._one, lines)

    def _one(self, line: re.Match[bytes]) -> bytes:
        time, kind, text = line.groups()
        head = time + b" " if self._timestamps and not self._inside else b""
        self._inside = kind == b"P"
        return head + (text[:-1] if self._inside else text)


def beginning(run_folder: Path, query: LogQuery) -> tuple[int, int]:
    """The file and the place in it where the answer to *query* begins."""
    present = numbers(run_folder)
    files = [run_folder / name_of(number) for number in present]
    index, offset = (0, 0) if query.tail_lines is None else tail_start(files, query.tail_lines)
    if query.since:
        index, offset = max((index, offset), since_offset(files, query.since.encode()))
    return present[index], offset


def numbers(run_folder: Path) -> list[int]:
    """Of the files there are now, oldest first."""
    try:
        names = [name for name in os.listdir(run_folder) if name == "log" or name.startswith("log.")]
    except FileNotFoundError:
        return []  # its pod is gone; who has a file open reads on to its end
    return sorted(int(name.partition(".")[2] or 0) for name in names)


def opened(run_folder: Path, number: int) -> int | None:
    try:
        return os.open(run_folder / name_of(number), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        # So slow a reader that the file is gone: it goes on with the oldest there is.
        return None
