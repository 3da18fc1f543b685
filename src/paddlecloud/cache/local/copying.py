"""Copying and reading many files at once, with one count of what went by.

A copy is made aside, compared with what the source promised, and only then given its name.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

from ...errors import Failed
from ..engine import Amount, Cancelled, Run, Unfit
from ..sources.source import CHUNK, Entry, Parted, Source
from .disk import reserve
from .parting import PIECE, Coming
from .readahead import read_ahead
from .summing import FileSum, Sum, kind
from .throttle import Throttle

Item = TypeVar("Item")
Result = TypeVar("Result")
MD5 = re.compile(r"[0-9a-f]{32}")
TRIES = 3
AHEAD = 8 << 20
"""Bytes from which on a thread of its own pays."""
BATCH = 500
"""Rows that are recorded at once."""


class Done(NamedTuple):
    """A file that is whole in its place."""

    entry: Entry
    sha256: str
    copied: bool


class Tally:
    """Adds up what the workers did, reports the sums, and ends them all when one failed."""

    def __init__(self, run: Run, total_files: int, total_bytes: int) -> None:
        self._run, self._totals = run, (total_files, total_bytes)
        self._files = self._bytes = 0
        self._lock = threading.Lock()
        self.ended = False
        self.add(0, 0)

    def add(self, files: int, size: int) -> None:
        if self.ended:
            raise Cancelled("another file failed")
        self._run.check()
        with self._lock:
            self._files += files
            self._bytes += size
            amount = Amount(self._files, self._bytes, *self._totals)
        self._run.report(amount)


def together(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int, tally: Tally
) -> Iterator[Result]:
    """The results as they come; the first error ends all."""
    tally.ended = False
    waiting, lock = iter(items), threading.Lock()
    # Of each worker its results, at the end what it failed of or nothing: a future a file costs too much.
    said: SimpleQueue[tuple[Result] | BaseException | None] = SimpleQueue()

    def take() -> None:
        """Work until there is no more to do, or somebody failed."""
        try:
            while not tally.ended:
                with lock:
                    item = next(waiting, None)
                if item is None:
                    break
                said.put((work(item),))
            said.put(None)
        except BaseException as error:
            said.put(error)

    with ThreadPoolExecutor(threads, thread_name_prefix="samples") as pool:
        try:
            working = len([pool.submit(take) for _ in range(threads)])
            while working:
                one = said.get()
                if isinstance(one, BaseException):
                    raise one
                if one is None:
                    working -= 1
                else:
                    yield one[0]
        finally:
            tally.ended = True


def batched(results: Iterator[Result], most: int) -> Iterator[list[Result]]:
    """Lists of what came; what came before an error is given, too."""
    batch: list[Result] = []
    try:
        for result in results:
            batch.append(result)
            if len(batch) == most:
                yield batch
                batch = []
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


class Came:
    """What came of one file so far, as it was counted in the tally."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._lock = tally, threading.Lock()
        self.size = 0

    def add(self, size: int) -> None:
        with self._lock:
            self.size += size
        self._tally.add(0, size)

    def take_back(self) -> None:
        if not self._tally.ended:
            self._tally.add(0, -self.size)


class Copier:
    """Brings files of one source to their places by way of the folder *parts*.

    *streams* are the connections that a large file may have.
    """

    def __init__(
        self, source: Source, parts: Path, tally: Tally, throttle: Throttle, streams: int = 1
    ) -> None:
        self._source, self._parts, self._tally, self._throttle = source, parts, tally, throttle
        self._streams = streams

    def copy(self, entry: Entry, target: Path, mode: int = 0) -> Done:
        # Paths are different, so are their sums: no two copies share a name.
        part = self._parts / hashlib.sha256(os.fsencode(target)).hexdigest()
        sha256 = self._fetched(entry, part)
        if mode:
            part.chmod(mode)
        if entry.time_ns:
            # With the time of the source: by it a copy is known again when the record is lost.
            os.utime(part, ns=(entry.time_ns, entry.time_ns))
        try:
            os.replace(part, target)
        except FileNotFoundError:
            # The first file of its folder.
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)
        self._tally.add(1, 0)
        return Done(entry, sha256, copied=True)

    def _fetched(self, entry: Entry, part: Path) -> str:
        """Write the bytes to *part*. Returns their sum."""
        before = ""
        for attempt in range(1, TRIES + 1):
            try:
                # A server that does not give parts is then asked for the whole.
                sha256, md5 = self._written(entry, part, in_parts=attempt == 1)
            except (Cancelled, Unfit):
                raise
            except Failed:
                if attempt == TRIES:
                    raise
                continue
            # Not every server's mark is the MD5 of the content even where it looks like one: what came the
            # same way twice is what the server has.
            if not MD5.fullmatch(entry.mark) or md5 in (entry.mark, before):
                return sha256
            before = md5
            self._tally.add(0, -entry.size)
        raise Failed(f"{entry.path} came differently each time it was read", next_step="check the network")

    def _written(self, entry: Entry, part: Path, *, in_parts: bool) -> tuple[str, str]:
        sha256, md5 = FileSum(entry.size), hashlib.md5(usedforsecurity=False)
        promised = [md5] if MD5.fullmatch(entry.mark) else []
        text = ""
        came = Came(self._tally)
        try:
            with part.open("w+b", buffering=0) as file:
                parted = self._source if isinstance(self._source, Parted) else None
                how = kind(entry.size)
                if how:
                    reserve(file.fileno(), entry.size)
                if in_parts and parted and how and self._worth_parts():
                    coming = Coming(parted, entry, file.fileno(), came.add, how)
                    text = how.text(coming.bring(promised, self._streams))
                else:
                    self._streamed(entry, file.fileno(), [sha256, *promised], came)
            if came.size != entry.size:
                raise Failed(
                    f"{entry.path} came with {came.size} of {entry.size} bytes: it changed, or broke off"
                )
        except Failed:
            came.take_back()
            raise
        return text or sha256.text(), md5.hexdigest()

    def _streamed(self, entry: Entry, file: int, sums: Sequence[Sum], came: Came) -> None:
        with self._chunks(entry) as chunks:
            for chunk in chunks:
                self._throttle.take(len(chunk), lambda: self._tally.add(0, 0))
                for one in sums:
                    one.update(chunk)
                write_all(file, chunk)
                came.add(len(chunk))

    def _worth_parts(self) -> bool:
        return self._streams > 1 and not self._throttle.limited

    def _chunks(self, entry: Entry) -> AbstractContextManager[Iterator[bytes]]:
        pieces = self._source.chunks(entry)
        # With a limit nothing is to come before its time.
        if entry.size < AHEAD or self._throttle.limited:
            return nullcontext(pieces)
        return closing(read_ahead(pieces))


def write_all(number: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(number, rest[:PIECE]) :]


def read(path: Path, tally: Tally, like: str = "") -> str:
    """The sum of a file, of the kind of *like*; its bytes are in the page cache afterwards."""
    with path.open("rb", buffering=0) as file:
        digest = FileSum(os.fstat(file.fileno()).st_size, like)
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            tally.add(0, len(chunk))
    return digest.text()
