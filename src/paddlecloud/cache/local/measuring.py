"""The link of the engine `local`: some files of the source are fetched as a warm-up would, and read again.

What is fetched lies aside and goes at once: neither the samples nor the record are touched.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...errors import Failed
from ..engine import MeasureWish, Outcome, Run
from ..measuring import Grant, measured, spread
from ..sources.source import CHUNK, Entry, Source

LISTED = 3000
"""Files of which some are read: listing all may take longer than measuring."""


def measure(source: Source, aside: Path, wish: MeasureWish, run: Run) -> Outcome:
    """The three speeds; *aside* is an empty folder on the disk of the samples."""
    entries = list(islice(source.entries(), LISTED))
    if not entries:
        raise Failed(f"the source {wish.source} has no files", next_step="put the samples there")
    each, most = wish.seconds / 3, wish.bytes // 3

    def place(entry: Entry) -> Path:
        return aside / hashlib.sha256(os.fsencode(entry.path)).hexdigest()

    def fetched(entry: Entry) -> Iterator[int]:
        run.check()
        with place(entry).open("wb", buffering=0) as file:
            # Summed, because a copy that counts is summed as well.
            digest = hashlib.sha256()
            for chunk in source.chunks(entry):
                digest.update(chunk)
                file.write(chunk)
                yield len(chunk)

    def passed(entry: Entry) -> Iterator[int]:
        run.check()
        for chunk in source.chunks(entry):
            yield len(chunk)

    link = measured(fetched, spread(entries, 2, 0), wish.threads, Grant(each, most))
    cold = measured(passed, spread(entries, 2, 1), wish.readers, Grant(each, most))
    there = [path for path in map(place, spread(entries, 2, 0)) if path.exists()]
    near = measured(pieces, rounds(there), wish.readers, Grant(each, most))
    return Outcome(files=len(there), measured={"link": link, "cold": cold, "near": near})


def pieces(path: Path) -> Iterator[int]:
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            yield len(chunk)


def rounds(paths: list[Path]) -> Iterator[Path]:
    """Again and again: near files are read faster than they came."""
    while any(path.stat().st_size for path in paths):
        yield from paths
