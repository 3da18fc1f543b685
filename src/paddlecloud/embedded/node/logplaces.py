"""Where in the files of a log the last lines begin, and where the lines of a time begin.

Both look at a few places of the files only: a long log costs no more than its tail.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

BLOCK = 64 * 1024
TIME_LENGTH = 30
FULL_LINE = re.compile(rb"^\S+ \S+ F [^\n]*\n", re.MULTILINE)


def tail_start(files: Sequence[Path], lines: int) -> tuple[int, int]:
    """The index of the file and the offset where the last *lines* lines begin; a line in pieces is one."""
    for index in reversed(range(len(files))):
        newest = index == len(files) - 1
        with files[index].open("rb", buffering=0) as file:
            count, offset = tail_offset(file.fileno(), lines, newest)
        if count >= lines:
            return index, offset
        lines -= count
    return 0, 0


def tail_offset(file: int, lines: int, newest: bool) -> tuple[int, int]:
    """How many of the wanted lines this file has, and where the first of them begins."""
    end, block = os.fstat(file).st_size, BLOCK
    if lines == 0:
        return 0, end
    while True:
        start = max(0, end - block)
        data = os.pread(file, end - start, start)
        whole = data.find(b"\n") + 1 if start else 0
        ends = [whole, *(found.end() for found in FULL_LINE.finditer(data, whole))]
        # What is not finished yet is a line, too; in older files it goes on in the next.
        count = len(ends) - 1 + (newest and ends[-1] < len(data))
        if count > lines or (start == 0 and count == lines):
            return lines, start + ends[count - lines]
        if start == 0:
            return count, 0
        block *= 4


def since_offset(files: Sequence[Path], since: bytes) -> tuple[int, int]:
    """The index of the file and the offset of the first line that is no older than *since*."""
    index = 0
    for later in range(1, len(files)):
        with files[later].open("rb", buffering=0) as file:
            first = os.pread(file.fileno(), TIME_LENGTH, 0)
        if first and first < since:
            index = later
    with files[index].open("rb", buffering=0) as file:
        return index, first_since(file.fileno(), since)


def first_since(file: int, since: bytes) -> int:
    """By halving: times only grow."""
    low, high = 0, os.fstat(file).st_size
    while low < high:
        middle = (low + high) // 2
        begin = next_line(file, middle)
        if begin >= high or os.pread(file, TIME_LENGTH, begin) >= since:
            high = middle
        else:
            low = begin + 1
    return next_line(file, low)


def next_line(file: int, offset: int) -> int:
    """Where the first line begins that begins at *offset* or later; the end of the file if none does."""
    if offset == 0:
        return 0
    position = offset - 1
    while data := os.pread(file, BLOCK, position):
        found = data.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(data)
    return position
