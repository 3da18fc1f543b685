"""Where a run may have written records of VisualDL, and which there are that are its own.

The folders belong to the container: nothing in them is trusted. No link is followed, not even one that takes
the place of a folder meanwhile, and a search ends after some thousand entries however many there are.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from .sandbox.root import UPPER

MARK = "vdlrecords"
MADE = re.compile(rf"{MARK}\.(\d{{10}})\.log")
MOST_ENTRIES, MOST_IN_A_FOLDER, DEEPEST, MOST_FILES = 10_000, 2_000, 8, 32
CLOSED = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Place(NamedTuple):
    """A folder that a container may write to."""

    folder: Path
    inner: str = ""
    """A path in it that is all the container sees."""
    shared: bool = False
    """Whether others write there, too."""


class Found(NamedTuple):
    """A file of records."""

    place: Place
    path: str
    made: float
    """Seconds since the epoch."""

    @property
    def folder(self) -> tuple[Path, str]:
        return self.place.folder, os.path.dirname(self.path)


def places(order: Mapping[str, Any], run_folder: Path) -> list[Place]:
    """All that the run described by *order* may write to; what is in memory only dies with it."""
    pod_folder = run_folder.parents[2]
    written = sandboxed(order["sandbox"], run_folder) if "sandbox" in order else plain(order, pod_folder)
    own = [p._replace(shared=not p.folder.is_relative_to(pod_folder)) for p in written]
    return [place for place in dict.fromkeys(own) if str(place.folder) != "/"]


def sandboxed(sandbox: Mapping[str, Any], run_folder: Path) -> Iterator[Place]:
    yield Place(run_folder / UPPER)
    for mount in sandbox["mounts"]:
        if mount.get("laid"):
            yield Place(run_folder / mount["laid"] / UPPER)
        elif mount.get("source") and not mount.get("readOnly"):
            yield Place(Path(mount["source"]), mount.get("subPath") or "")


def plain(order: Mapping[str, Any], pod_folder: Path) -> Iterator[Place]:
    yield Place(pod_folder / "home")
    yield Place(Path(order["cwd"]))
    for real in (order.get("paths") or {}).values():
        yield Place(Path(real))


def own_records(where: Iterable[Place], since: float) -> list[Found]:
    """The newest files that a run made which began at *since*.

    Where others write too, files of another run may be as new: its own are those beside the first one.
    """
    every = [found for place in where for found in search(place) if found.made >= int(since)]
    mine = [found for found in every if not found.place.shared]
    if every and not mine:
        first = min(every, key=lambda found: (found.made, found.path))
        mine = [found for found in every if found.folder == first.folder]
    return sorted(mine, key=lambda found: found.made)[-MOST_FILES:]


def search(place: Place, entries: int = MOST_ENTRIES, crowd: int = MOST_IN_A_FOLDER) -> Iterator[Found]:
    """The files of records in *place*, outer folders first: so many entries, and so many of one folder."""
    waiting, left = deque([(place.inner, 0)]), entries
    while waiting and left > 0:
        folder, depth = waiting.popleft()
        # What is closed to us, or gone since its name was read, has nothing to tell.
        with contextlib.suppress(OSError), opened(place, folder) as there, os.scandir(there) as listed:
            for entry in islice(listed, min(left, crowd)):
                left -= 1
                path = os.path.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEEPEST and not entry.name.startswith((".", "__")):
                        waiting.append((path, depth + 1))
                elif MARK in entry.name and entry.is_file(follow_symlinks=False):
                    yield Found(place, path, made_at(entry.name, entry.stat(follow_symlinks=False)))


def made_at(name: str, seen: os.stat_result) -> float:
    """By its name, else when it was last written: such a file may go on from an earlier run."""
    told = MADE.search(name)
    return float(told[1]) if told else seen.st_mtime


@contextlib.contextmanager
def opened(place: Place, path: str) -> Iterator[int]:
    """A descriptor of *path* in *place*; raises `OSError` where a part of it is a link."""
    descriptor = os.open(place.folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        for part in [part for part in path.split("/") if part]:
            outer, descriptor = descriptor, os.open(part, CLOSED, dir_fd=descriptor)
            os.close(outer)
        yield descriptor
    finally:
        os.close(descriptor)
