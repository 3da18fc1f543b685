"""Engines on a disk that fills up for a while; prints a line a thing that was seen.

Run with mounts of its own and a small file system at the folder given, the sources beside it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.cache.juicefs_stage import Course, mounted
from tests.suites.environments import variables

from paddlecloud.cache.engine import Amount, SyncWish
from paddlecloud.cache.juicefs.client import PROGRAM, Client
from paddlecloud.cache.local.engine import LocalEngine
from paddlecloud.errors import Failed


class Fills(Course):
    """Somebody else takes what is left of the disk as soon as the first file is whole."""

    def __init__(self, disk: Path) -> None:
        super().__init__()
        self._other = disk / "of-another"

    def report(self, amount: Amount) -> None:
        super().report(amount)
        if amount.files and not self._other.exists():
            with self._other.open("wb") as file:
                free = os.statvfs(self._other)
                os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_bsize - (256 << 10))

    def ends(self) -> None:
        self._other.unlink()


FULL = re.compile(r"No space left on device|disk is full|Failed to copy object b: .*: input/output error")


def told(deed: Callable[[], object]) -> str:
    """What was said: which of its words comes first depends on what is written last."""
    try:
        deed()
    except Failed as error:
        return f"{'full' if FULL.search(str(error)) else error}, {error.next_step}"
    return "nothing"


def local(disk: Path, source: Path) -> None:
    """*source* has a small file that comes first and another that does not fit any more."""
    engine, wish = LocalEngine(disk / "data", disk / "index"), SyncWish(source.as_uri(), threads=1)
    other = Fills(disk)
    print("sync:", told(lambda: engine.sync(wish, other)))
    print("here:", *sorted(path.name for path in engine.data.iterdir()))
    other.ends()
    print("again:", engine.sync(wish, Course()).copied)
    engine.clear((), Course())
    other = Fills(disk)
    print("warm:", told(lambda: engine.warm(None, 1, other)))
    print("known:", engine.holding().total_files)
    other.ends()
    engine.warm(None, 1, Course())
    print("again:", engine.verify(Course()).files)


def juicefs(disk: Path, source: Path) -> None:
    """*source* is larger than the disk of the objects."""
    client = Client(Path(variables("data")["PATH"].partition(":")[0]) / PROGRAM)
    with mounted(client, disk / "fs", "--io-retries=1") as engine:
        print("sync:", told(lambda: engine.sync(SyncWish(source.as_uri()), Course())))
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        engine.sync(SyncWish(source.as_uri()), Course())
        print("again:", engine.verify(Course()).files)


if __name__ == "__main__":
    {"local": local, "juicefs": juicefs}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
