"""The log of a container run as its shim writes it: every line with its time and its stream.

    2026-11-16T01:47:13.123456789Z stdout F a line
    2026-11-16T01:47:13.123456789Z stdout P the beginning of a very long line

Files are `log`, `log.1`, `log.2`, …: none is renamed, the last one grows, the oldest goes. A reader at the
end of one that has a successor has read all of it. Only the standard library: it runs in the shim.
"""

from __future__ import annotations

import os
import time

FILE_LIMIT = 10 * 1024 * 1024
KEPT_FILES = 5
LONGEST_PIECE = 16 * 1024
"""Bytes of a line that has not ended yet; what is longer is written in pieces."""


class LogFile:
    """In the current folder."""

    def __init__(self) -> None:
        self._number = 0
        self._file, self._size = create(name_of(0)), 0
        self._unfinished: dict[bytes, bytes] = {}
        self._second, self._stamp = -1, b""

    def write(self, stream: bytes, data: bytes) -> None:
        """What came on *stream*; a line that has not ended is kept until it does or grows too long."""
        data = self._unfinished.pop(stream, b"") + data
        lines, newline, rest = data.rpartition(b"\n")
        # One time for all that came at once, put in front of every line by one call.
        head = self._now() + b" " + stream
        if newline:
            full = head + b" F "
            self._append(full + lines.replace(b"\n", b"\n" + full) + b"\n")
        if len(rest) >= LONGEST_PIECE:
            self._append(head + b" P " + rest + b"\n")
        elif rest:
            self._unfinished[stream] = rest

    def end(self, stream: bytes) -> None:
        """Nothing more comes on *stream*: its last words may lack the end of their line."""
        if rest := self._unfinished.pop(stream, b""):
            self._append(self._now() + b" " + stream + b" P " + rest + b"\n")

    def _append(self, text: bytes) -> None:
        try:
            self._size += os.write(self._file, text)
            if self._size >= FILE_LIMIT:
                self._next()
        except OSError:
            # A full disk must not stop the container; what cannot be written is lost.
            return

    def _next(self) -> None:
        following = create(name_of(self._number + 1))
        os.close(self._file)
        self._file, self._size = following, 0
        self._number += 1
        if self._number >= KEPT_FILES:
            os.unlink(name_of(self._number - KEPT_FILES))

    def _now(self) -> bytes:
        second, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        if second != self._second:
            self._second = second
            # Not by `strftime`, which asks for the locale and touches much that shims share.
            self._stamp = b"%04d-%02d-%02dT%02d:%02d:%02d" % time.gmtime(second)[:6]
        return self._stamp + b".%09dZ" % nanoseconds


def name_of(number: int) -> str:
    return f"log.{number}" if number else "log"


def create(name: str) -> int:
    return os.open(name, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
