"""Curves for VisualDL: the records that its own writer makes, written without it.

A record is a protobuf message of one value (step, tag, time, number) with its length in front, eight bytes,
the lowest first. Every record is handed to the file whole, so that a reader can follow a training at work.
"""

from __future__ import annotations

import struct
import time
from pathlib import Path
from types import TracebackType
from typing import Self

VARINT, BYTES, FIXED32 = 0, 2, 5
STEP, TAG, TIME, NUMBER, META = 1, 2, 3, 4, 10


class Curves:
    """A file of records in *folder*; None: nothing is written."""

    def __init__(self, folder: Path | None, name: str = "") -> None:
        self._file = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / f"vdlrecords.{int(time.time()):010d}.log").open("ab")
            self._write(record(0, "meta_data_tag", now(), message(META, text(1, name or folder.name))))

    def add(self, tag: str, value: float, step: int) -> None:
        if self._file is not None:
            number = bytes((NUMBER << 3 | FIXED32,)) + struct.pack("<f", value)
            self._write(record(step, tag, now(), number))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def _write(self, message: bytes) -> None:
        assert self._file is not None
        self._file.write(struct.pack("<Q", len(message)) + message)
        self._file.flush()


def record(step: int, tag: str, at: int, content: bytes) -> bytes:
    value = field(STEP, VARINT, varint(step)) + text(TAG, tag) + field(TIME, VARINT, varint(at)) + content
    return message(1, value)


def text(number: int, content: str) -> bytes:
    return message(number, content.encode())


def message(number: int, content: bytes) -> bytes:
    return field(number, BYTES, varint(len(content)) + content)


def field(number: int, kind: int, content: bytes) -> bytes:
    return bytes((number << 3 | kind,)) + content


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def now() -> int:
    return round(time.time() * 1000)
