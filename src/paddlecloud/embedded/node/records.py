"""What a container wrote down with VisualDL: the last number under each tag, over the node's socket.

A run is remembered between two looks: a look reads what was added to the files it knows, and files are looked
for again only after a rest that grows with what looking cost. At the end of a run both are done in any case,
so that the last word is heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import orjson
from aiohttp import web

from . import attempts
from .recordplaces import Found, Place, opened, own_records, places
from .targets import FindPod, log_folder
from .vdlrecords import HEADER, Scalar, length_of, newest, whole_records

PATIENCE = 1.0
"""Seconds an answer waits for the files; on a slow volume what was known before is told."""
THREADS = 2
REST = 300.0
"""Times what a search took until the next one."""
PIECE = 256 * 1024
MOST_AT_ONCE = 4 << 20
"""Bytes of one file in one look: some tenths of a second."""
MOST_AT_THE_END = 64 << 20
MOST_TAGS = 100
FORGET_BEYOND = 64


class Records:
    """Of all runs of a node; a volume that does not answer holds up nothing but this."""

    def __init__(self, find: FindPod, clock: Callable[[], float] = time.monotonic) -> None:
        self._find, self._clock = find, clock
        self._runs: dict[Path, RunRecords] = {}
        self._looks: dict[Path, asyncio.Future[None]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="records")

    async def answer(self, request: web.Request) -> web.Response:
        told = await self.told(log_folder(self._find, request))
        body = orjson.dumps({"scalars": [one._asdict() for one in told]})
        return web.Response(body=body, content_type="application/json")

    async def told(self, run_folder: Path) -> tuple[Scalar, ...]:
        run = self._runs.get(run_folder)
        if run is None:
            self._forget()
            run = self._runs[run_folder] = RunRecords(run_folder, self._clock)
        look = self._looks.get(run_folder)
        if look is None:
            look = asyncio.get_running_loop().run_in_executor(self._threads, run.look)
            self._looks[run_folder] = look
            look.add_done_callback(lambda _: self._looks.pop(run_folder))
        await asyncio.wait({look}, timeout=PATIENCE)
        if look.done():
            look.result()
        return run.known

    def _forget(self) -> None:
        if len(self._runs) >= FORGET_BEYOND:
            self._runs = {path: run for path, run in self._runs.items() if path.is_dir()}

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class RunRecords:
    """The records of one run; only one thread looks at a time."""

    def __init__(self, run_folder: Path, clock: Callable[[], float]) -> None:
        self._run_folder, self._clock = run_folder, clock
        self._files: dict[tuple[Place, str], RecordFile] = {}
        self._search_after = float("-inf")
        self.known: tuple[Scalar, ...] = ()
        """The last number under each tag."""

    def look(self) -> None:
        run = attempts.read(self._run_folder)
        if run.state.over or self._clock() >= self._search_after:
            self._search(run.started_at)
        told: dict[str, Scalar] = {}
        for file in self._files.values():
            with contextlib.suppress(OSError):
                file.read_on(MOST_AT_THE_END if run.state.over else MOST_AT_ONCE)
            for tag, scalar in file.newest.items():
                if tag not in told or scalar.time >= told[tag].time:
                    told[tag] = scalar
        self.known = tuple(told.values())

    def _search(self, since: float) -> None:
        began = self._clock()
        order = attempts.content(self._run_folder / "run.json")
        found = own_records(places(order, self._run_folder), since)
        known = self._files
        self._files = {(f.place, f.path): known.get((f.place, f.path)) or RecordFile(f) for f in found}
        ended = self._clock()
        self._search_after = ended + REST * (ended - began)


class RecordFile:
    """A file of records, read from where the last look ended."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._identity = (0, 0)
        self._offset = 0
        self.newest: dict[str, Scalar] = {}

    def read_on(self, most: int) -> None:
        """Read what was added, *most* bytes of it."""
        with opened(self._found.place, self._found.path) as file:
            seen = os.fstat(file)
            if (seen.st_dev, seen.st_ino) != self._identity or seen.st_size < self._offset:
                self._identity, self._offset, self.newest = (seen.st_dev, seen.st_ino), 0, {}
            # What is no file has no size: nothing is read of it.
            end = min(seen.st_size, self._offset + most)
            while self._offset < end and self._read_piece(file, seen.st_size):
                pass

    def _read_piece(self, file: int, size: int) -> bool:
        """Whether there was a whole record to read, or to pass over because no number is that long."""
        data = os.pread(file, PIECE, self._offset)
        records = list(whole_records(data))
        ends = records[-1][1] if records else 0
        self.newest = dict(islice((self.newest | newest(data, records)).items(), MOST_TAGS))
        if not ends and len(data) >= HEADER:
            ends = HEADER + length_of(data)
        if not ends or self._offset + ends > size:
            return False
        self._offset += ends
        return True
