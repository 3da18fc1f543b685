"""A large file in parts that come at the same time, each summed by the thread that brings it.

One connection seldom fills a link, and waits while its bytes are summed and written. A part that breaks off
is asked for again by itself; the first error that stays ends all. What the source promises as one sum of the
whole is summed besides, in order, as it lies on the disk.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ...errors import Failed
from ..engine import Cancelled, Unfit
from ..sources.source import CHUNK, Entry, Parted
from .summing import LARGE, Kind, Sum

PIECE = 32 << 10
"""Bytes that are written at once: larger pieces lie in larger pages, of which some writes were seen to take
four to ten times the processor time."""
ROOM = 1 << 20
"""Bytes of a part that are received before they are summed: with fewer turns the threads wait less for each
other, and no more than a processor keeps near."""
MOST = 8
"""Parts of one file that come at the same time."""
TRIES = 3


def streams(sizes: Iterable[int], threads: int) -> int:
    """Connections for each large file, so that all files together have no more than *threads*."""
    large = sum(size >= LARGE for size in sizes)
    return max(1, min(MOST, threads // large)) if large else 1


class Span(NamedTuple):
    begin: int
    end: int


class Spans:
    """Which parts are still to be taken and which lie there; shared by all who bring and sum them."""

    def __init__(self, size: int, part: int) -> None:
        self._all = [Span(begin, min(size, begin + part)) for begin in range(0, size, part)]
        self._waiting = iter(self._all)
        self._there = dict[Span, bytes]()
        self._changed = threading.Condition()
        self.error: BaseException | None = None

    def taken(self) -> Iterator[Span]:
        """The next one that nobody brings yet, until there are no more or all is in vain."""
        while True:
            with self._changed:
                span = None if self.error else next(self._waiting, None)
            if span is None:
                return
            yield span

    def came(self, span: Span, sum: bytes) -> None:
        with self._changed:
            self._there[span] = sum
            self._changed.notify_all()

    def in_order(self) -> Iterator[Span]:
        """Each when it lies there, from the first to the last; ends early when all is in vain."""
        for span in self._all:
            with self._changed:
                while span not in self._there and self.error is None:
                    self._changed.wait()
                if self.error:
                    return
            yield span

    def sums(self) -> list[bytes]:
        """Of all parts, in their order, when all lie there."""
        return [self._there[span] for span in self._all]

    def fail(self, error: BaseException) -> None:
        with self._changed:
            self.error = self.error or error
            self._changed.notify_all()


@dataclass(frozen=True)
class Coming:
    """One file on its way: *count* hears how many bytes came, and may raise to end it.

    Of a part that has to come again it hears with a number below zero.
    """

    source: Parted
    entry: Entry
    file: int
    """An open one, to be written and read."""
    count: Callable[[int], None]
    kind: Kind

    def bring(self, sums: Sequence[Sum], streams: int) -> list[bytes]:
        """Write all bytes to the file and add them to *sums*. Returns the sum of each part."""
        spans = Spans(self.entry.size, self.kind.part)
        deeds = [*(partial(self._stream, spans) for _ in range(streams))]
        deeds += [partial(self._sum, spans, one) for one in sums]

        def attempt(deed: Callable[[], None]) -> None:
            try:
                deed()
            except BaseException as error:
                spans.fail(error)

        with ThreadPoolExecutor(len(deeds), thread_name_prefix="parts") as pool:
            for deed in deeds:
                pool.submit(attempt, deed)
        if spans.error:
            raise spans.error
        return spans.sums()

    def _stream(self, spans: Spans) -> None:
        # One place for all that comes: each new one would be pages that the kernel has to clear first.
        room = memoryview(mmap.mmap(-1, ROOM))
        for span in spans.taken():
            spans.came(span, self._part(span, room))

    def _sum(self, spans: Spans, one: Sum) -> None:
        room = memoryview(bytearray(CHUNK))
        for at, end in spans.in_order():
            while at < end:
                # It was just written, and is still in memory.
                got = os.preadv(self.file, [room[: end - at]], at)
                if not got:
                    raise Failed(f"the copy of {self.entry.path} was cut off while it was made")
                one.update(room[:got])
                at += got

    def _part(self, span: Span, room: memoryview) -> bytes:
        for attempt in range(1, TRIES + 1):
            at, digest = span.begin, self.kind.new()
            try:
                for piece in self.source.part(self.entry, *span, room):
                    digest.update(piece)
                    write_at(self.file, piece, at)
                    at += len(piece)
                    self.count(len(piece))
                if at == span.end:
                    return digest.digest()
                raise Failed(f"{self.entry.path} broke off after {at} of {self.entry.size} bytes")
            except (Cancelled, Unfit):
                raise
            except Failed:
                with suppress(Cancelled):
                    self.count(span.begin - at)
                if attempt == TRIES:
                    raise
        raise AssertionError("the last attempt returns or raises")


def write_at(file: int, piece: bytes | memoryview, at: int) -> None:
    rest = memoryview(piece)
    while rest:
        written = os.pwrite(file, rest[:PIECE], at)
        rest, at = rest[written:], at + written
