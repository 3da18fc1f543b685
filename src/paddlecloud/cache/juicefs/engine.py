"""The engine `juicefs`: works on a file system that is mounted in a folder, with the real client.

The objects and the metadata are the client's affair, and whoever mounted the folder knows their keys; here
only the keys of sources are seen. `cached` is what the cache of this mount holds, which is this node's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path, PurePosixPath
from typing import TypeVar

from ...errors import Failed
from ...sizes import size as shown
from ..engine import Amount, Changes, Holding, MeasureWish, Outcome, Run, SyncWish, Unfit
from ..local.throttle import Throttle
from ..measuring import Grant, measured, spread
from . import syncing
from .client import Client
from .counting import Count, Totals, cached, count
from .fetching import within_reach
from .filesystem import ROOT_INODE
from .tree import folders

AT_ONCE = 1000
"""Files that are warmed by one call: between two calls one knows how far it is."""
MEASURED = 1000
"""Files that a measurement drops from the cache and reads again, at most."""
SETTLED = 2.0
"""Seconds within which what was read is in the cache."""
CHUNK = 1 << 20
TOTALS = "totals.json"
AGAIN = "sync again to have what the source has"
T = TypeVar("T")


class JuicefsEngine:
    """The file system mounted at *data*; *state* is a folder for notes, *cache* where its cache lies."""

    def __init__(self, client: Client, data: Path, state: Path, cache: Sequence[Path] = ()) -> None:
        self.client, self.data, self.cache = client, data, tuple(cache)
        self.totals, self.aside = Totals(client, data, state / TOTALS), state / "aside"

    def sync(self, wish: SyncWish, run: Run) -> Outcome:
        run.check()
        self.check_mount()
        target = self.below(wish.destination)
        if not wish.dry:
            target.mkdir(parents=True, exist_ok=True)
        with within_reach(wish, self.aside, run) as safe:
            done = syncing.sync(self.client, safe, target, run)
        noted = self.totals.exactly()
        found = noted.count
        run.report(Amount(found.files, found.bytes, found.files, found.bytes))
        counts = done.copied, done.skipped, done.deleted
        return Outcome(found.files, found.bytes, *counts, noted.revision)

    def verify(self, run: Run) -> Outcome:
        """Compare name, size and time of every file with the last sync; the client checks contents."""
        run.check()
        self.check_mount()
        noted, now = self.totals.noted(), self.totals.found()
        found = now.count
        if noted is not None and noted.count != found:
            raise Failed(f"{said(noted.count)} were synced, and there are {said(found)}", next_step=AGAIN)
        if noted is not None and noted.revision not in ("", now.revision):
            raise Failed("files were changed since they were synced", next_step=AGAIN)
        run.report(Amount(found.files, found.bytes, found.files, found.bytes))
        return Outcome(found.files, found.bytes, revision=now.revision)

    def warm(self, files: Sequence[str] | None, threads: int, run: Run, bwlimit: int = 0) -> Outcome:
        run.check()
        self.check_mount()
        if files is None and not bwlimit:
            return self.warm_all(threads, run)
        # The client knows no limit of its own: with one it is given few files at a time.
        return self.warm_these(self.files() if files is None else files, threads, run, Throttle(bwlimit))

    def warm_all(self, threads: int, run: Run) -> Outcome:
        total = self.totals.quickly().count

        def tick(_: str) -> None:
            run.check()
            near = cached(self.data)
            done = min(near.bytes, total.bytes), min(near.files, total.files)
            run.report(Amount(done[1], done[0], total.files, total.bytes))

        self.client.run("warmup", f"--threads={max(1, threads)}", str(self.data), tick=tick)
        self.check_near(total)
        run.report(Amount(total.files, total.bytes, total.files, total.bytes))
        return Outcome(total.files, total.bytes)

    def warm_these(self, files: Sequence[str], threads: int, run: Run, pace: Throttle) -> Outcome:
        paths = [self.present(file) for file in files]
        sizes = [path.stat().st_size for path in paths]
        whole = Count(len(paths), sum(sizes))
        done = Count()
        at_once = AT_ONCE if not pace.limited else AT_ONCE // 50
        for batch, size in zip(batches(paths, at_once), batches(sizes, at_once), strict=True):
            pace.take(sum(size), run.check)
            run.report(Amount(done.files, done.bytes, whole.files, whole.bytes))
            self.listed(
                [path for path in batch if "\n" not in str(path)], run, f"--threads={max(1, threads)}"
            )
            # To the client a line break ends a path; what is read comes near as well.
            for path in batch:
                if "\n" in str(path):
                    read(path, run)
            done = Count(done.files + len(batch), done.bytes + sum(size))
        # The same file may be asked for twice, as samplers that fill up their last batch do.
        self.check_near(Count(0, sum(dict(zip(paths, sizes, strict=True)).values())))
        run.report(Amount(done.files, done.bytes, whole.files, whole.bytes))
        return Outcome(whole.files, whole.bytes)

    def remove(self, paths: Sequence[str], run: Run) -> Outcome:
        run.check()
        self.check_mount()
        if not paths:
            raise Unfit("no path to remove was given", next_step="name paths below the root of the set")
        removed = Count()
        named = [self.present(path) for path in paths]
        for path in [inner for one in named for inner in self.entries(one)]:
            run.check()
            # A folder that was named along with one above it is gone already.
            if not os.path.lexists(path):
                continue
            found = count(self.client, path)
            self.client.run("rmr", str(path), tick=lambda _: run.check())
            removed = Count(removed.files + found.files, removed.bytes + found.bytes)
            run.report(Amount(removed.files, removed.bytes))
        noted = self.totals.exactly()
        return Outcome(noted.count.files, noted.count.bytes, deleted=removed.files, revision=noted.revision)

    def clear(self, paths: Sequence[str], run: Run) -> Outcome:
        run.check()
        self.check_mount()
        before = cached(self.data)
        named = [self.present(path) for path in paths] or [self.data]
        # To the client a line break ends a path, so that such a file goes with its folder.
        for batch in batches([sayable(path) for path in named]):
            self.listed(batch, run, "--evict")
        left = cached(self.data)
        return Outcome(left.files, left.bytes, deleted=max(0, before.files - left.files))

    def leave(self, run: Run) -> Outcome:
        return self.clear((), run)

    def compare(self, wish: SyncWish, run: Run) -> Changes | None:
        self.check_mount()
        # What another sync would bring: without an option the client looks at names and sizes alone.
        asked = replace(wish, dry=True, force_update=False, delete_src=False, delete_dst=False)
        return Changes(changed=syncing.sync(self.client, asked, self.below(wish.destination), run).copied)

    def measure(self, wish: MeasureWish, run: Run) -> Outcome:
        """The link is what brings a file that is not in the cache; some are dropped from it for that."""
        run.check()
        self.check_mount()
        files = within(islice(self.walk(), MEASURED), wish.bytes)
        if not files:
            raise Failed("there is nothing in the set to measure with", next_step="sync it first")
        each, most = wish.seconds / 3, wish.bytes // 3
        self.listed([sayable(path) for path in files], run, "--evict")
        brought: list[Path] = []

        def pieces(path: Path) -> Iterator[int]:
            brought.append(path)
            with path.open("rb", buffering=0) as file:
                # What the kernel still has would never be asked of the client.
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                while chunk := file.read(CHUNK):
                    run.check()
                    yield len(chunk)

        link = measured(pieces, spread(files, 2, 0), wish.threads, Grant(each, most))
        again = cycle(brought[:])
        cold = measured(pieces, spread(files, 2, 1), wish.readers, Grant(each, most))
        near = measured(pieces, again, wish.readers, Grant(each, most))
        return Outcome(files=len(files), measured={"link": link, "cold": cold, "near": near})

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.data).as_posix() for path in self.walk())

    def walk(self) -> Iterator[Path]:
        """The files of the set, folder by folder."""
        try:
            for folder, names in folders(self.data):
                yield from (Path(folder, name) for name in names)
        except OSError as error:
            raise Failed(f"{error.filename} cannot be read: {error.strerror}") from error

    def holding(self) -> Holding:
        self.check_mount()
        noted, near = self.totals.quickly(), cached(self.data)
        total = noted.count
        complete = near.bytes >= total.bytes
        disks = {os.stat(path).st_dev: shutil.disk_usage(path) for path in self.cache if path.exists()}
        return Holding(
            total_files=total.files,
            total_bytes=total.bytes,
            # Blocks are counted; a file has at least one.
            cached_files=total.files if complete else min(near.files, max(0, total.files - 1)),
            cached_bytes=min(near.bytes, total.bytes),
            disk_size=sum(disk.total for disk in disks.values()),
            disk_used=sum(disk.used for disk in disks.values()),
            disk_avail=sum(disk.free for disk in disks.values()),
            revision=noted.revision,
        )

    def listed(self, paths: Sequence[Path], run: Run, option: str) -> None:
        """Warm or evict *paths*: a list in a file, since arguments have a limit and are seen by all."""
        run.check()
        if not paths:
            return
        with tempfile.NamedTemporaryFile("wb", prefix="paths-") as file:
            file.write(b"".join(os.fsencode(path) + b"\n" for path in paths))
            file.flush()
            self.client.run("warmup", option, f"--file={file.name}", tick=lambda _: run.check())

    def below(self, text: str) -> Path:
        """The path of *text* below the root. Raises `Unfit` for one that leads out."""
        pure = PurePosixPath(text.lstrip("/"))
        if ".." in pure.parts or "\0" in text:
            raise Unfit(f"the path {text!r} leads out of the set", next_step="write it without `..`")
        path = self.data / pure
        root = self.data.resolve()
        # Of the path itself only the folder is followed: a link is warmed and removed as such.
        above = path.parent.resolve() if path != self.data else root
        if above != root and root not in above.parents:
            raise Unfit(f"the path {text!r} leads out of the set through a link")
        return path

    def present(self, text: str) -> Path:
        path = self.below(text)
        if not os.path.lexists(path):
            raise Failed(f"{text!r} is not in the set", next_step="`pdc data show` lists what is there")
        return path

    def entries(self, path: Path) -> list[Path]:
        """*path*, and for the root, which cannot be removed, what is in it."""
        return sorted(path.iterdir()) if path == self.data else [path]

    def check_near(self, wanted: Count) -> None:
        """Raises `Failed` when the cache did not take what was warmed: the client alone would not say so."""
        until = time.monotonic() + SETTLED
        # The client writes blocks to the disk of the cache behind the reader's back.
        while (near := cached(self.data)).bytes < wanted.bytes and time.monotonic() < until:
            time.sleep(SETTLED / 40)
        if near.bytes < wanted.bytes:
            raise Failed(
                f"the cache holds {shown(near.bytes)} of {shown(wanted.bytes)} that were to be warmed",
                next_step="give it more room (cache-size, free-space-ratio, or space on its disk)",
            )

    def check_mount(self) -> None:
        try:
            inode = os.stat(self.data).st_ino
        except OSError as error:
            raise Failed(
                f"the file system at {self.data} does not answer: {error.strerror}",
                next_step="its pod is started anew with a new mount",
            ) from error
        if inode != ROOT_INODE:
            raise Failed(f"no JuiceFS file system is mounted at {self.data}")


def sayable(path: Path) -> Path:
    """*path*, or the nearest folder above it without a line break in its name."""
    return next(p for p in (path, *path.parents) if "\n" not in str(p))


def read(path: Path, run: Run) -> None:
    with path.open("rb") as file:
        # What the kernel still has would never be asked of the client.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(CHUNK):
            run.check()


def within(paths: Iterator[Path], most: int) -> list[Path]:
    """The first of *paths* that are no more than *most* bytes together, and one at least."""
    found: list[Path] = []
    for path in paths:
        if found and (most := most - path.stat().st_size) < 0:
            break
        found.append(path)
    return found


def said(counted: Count) -> str:
    return f"{counted.files} files with {shown(counted.bytes)}"


def batches(items: Sequence[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
