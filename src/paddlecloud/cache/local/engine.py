"""The engine `local`: the samples as plain files in `data`, of which it is the only writer.

A file appears under its name only when it is whole; what lies as recorded is not brought again.
Nothing is removed but what was asked for by name, and no only copy is ever dropped from the cache.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...errors import Failed
from ..engine import Changes, Holding, Keys, MeasureWish, Outcome, Run, SyncWish, Unfit
from ..measuring import Grant
from ..paths import covered, guarded, inside
from ..sources.folder import Folder
from ..sources.opening import listed_cheaply, opened
from ..sources.source import Address, Entry, Source
from . import index
from .comparing import changes
from .copying import BATCH, Copier, Done, Tally, batched, read, together
from .disk import counted, disk_errors, emptied, lying, pruned, room
from .index import BY_HAND, PAGE, Index, Origin, Row
from .measuring import measure
from .parting import streams
from .sync import Sync, origin_of
from .throttle import Throttle

READERS = 4


class Workers(NamedTuple):
    """How many bring files at a time, and how fast they may together."""

    threads: int
    pace: Throttle


@dataclass(frozen=True)
class LocalEngine:
    """One volume; the calls may come from any thread, one at a time, `holding` at any time."""

    data: Path
    """The files as users see them."""
    own: Path
    """What the engine notes and lays aside; on the same disk."""
    keys: Callable[[str], Keys | None] = lambda _: None
    """The content of the Secret of that name, for files that are brought again."""

    def sync(self, wish: SyncWish, run: Run) -> Outcome:
        with self._volume() as record, self._opened(address(wish), run.check) as source:
            self._refuse_itself(source)
            shown = f"the source {address(wish).shown}"
            return Sync(self.data, self._parts(), record, wish, run, shown).carried_out(source)

    def verify(self, run: Run) -> Outcome:
        with self._volume() as record:
            by_hand = record.all_by_hand()
            files, size = self._found(record) if by_hand else record.sums()
            tally = Tally(run, files, size)

            def check(row: Row) -> Row | None:
                there = lying(self.data, row.path)
                good = there is not None and there.size == row.size
                sha256 = read(self.data / row.path, tally, row.sha256) if good else ""
                tally.add(1, 0)
                if there is None or not good or row.sha256 not in ("", sha256):
                    return None
                # Right again whatever its time: somebody may have touched it.
                return row._replace(sha256=sha256, copy_ns=there.time_ns)

            wrong: list[str] = []
            # Page by page: the rows of a million files are no reason for a gigabyte.
            for rows in batched(self._found_rows(), PAGE) if by_hand else record.pages():
                # By name, because a row that is wrong comes back as nothing.
                checked = {row.path: row for row in together(check, rows, READERS, tally) if row}
                wrong += (missed := [row.path for row in rows if row.path not in checked])
                record.distrust(missed)
                record.put(checked[r.path] for r in rows if r.path in checked and r != checked[r.path])
            if wrong:
                raise Failed(told(wrong, self.data))
            revision = record.settle() if by_hand else record.revision()
        return Outcome(files, size, skipped=files, revision=revision)

    def warm(self, files: Sequence[str] | None, threads: int, run: Run, bwlimit: int = 0) -> Outcome:
        with self._volume() as record:
            rows = asked(record, files)
            missing = [row for row in rows if lying(self.data, row.path) != (row.size, row.copy_ns)]
            room(self.data, sum(row.size for row in missing))
            tally = Tally(run, len(rows), sum(row.size for row in rows))
            workers = Workers(max(1, min(threads, 64)), Throttle(bwlimit))
            for number in sorted({row.source for row in missing}):
                gone = [row for row in missing if row.source == number]
                self._bring_back(record, gone, workers, tally, run)
            brought = {row.path for row in missing}

            def look(row: Row) -> None:
                read(self.data / row.path, tally)
                tally.add(1, 0)

            near = [row for row in rows if row.path not in brought]
            for _ in together(look, near, READERS, tally):
                pass
        size = sum(row.size for row in rows)
        return Outcome(len(rows), size, len(missing), len(near), revision=self._revision())

    def remove(self, paths: Sequence[str], run: Run) -> Outcome:
        roots = [inside(path) for path in paths]
        if not roots:
            raise Unfit("no paths were given", next_step="name what is to be removed in rmrOptions.paths")
        with self._volume() as record:
            rows = [row for row in record.rows() if covered(row.path, roots)]
            for root in roots:
                at = guarded(self.data, root) if root else self.data
                if not (at.exists() or at.is_symlink() or any(covered(row.path, [root]) for row in rows)):
                    raise Failed(
                        f"there is no {root} in the sample set", next_step="correct rmrOptions.paths"
                    )
            record.unsettle()
            deleted = sum(emptied(self.data, root, run.check, without=self.own) for root in roots)
            # Last: while the rows are there, a removal that was cut off finds its way again.
            record.forget(row.path for row in rows)
            revision = record.settle()
        return Outcome(len(rows), sum(row.size for row in rows), deleted=deleted, revision=revision)

    def clear(self, paths: Sequence[str], run: Run) -> Outcome:
        with self._volume() as record:
            rows = asked(record, paths or None)
            reachable = {number for number in {row.source for row in rows} if record.origin(number)}
            droppable = [row for row in rows if row.source in reachable]
            if rows and not droppable:
                raise Unfit(
                    "these files have no source to come back from: their copy is the only one",
                    next_step="remove them with rmr if they are not needed",
                )
            deleted = size = 0
            for row in droppable:
                run.check()
                if lying(self.data, row.path) is not None:
                    guarded(self.data, row.path).unlink(missing_ok=True)
                    deleted, size = deleted + 1, size + row.size
            revision = record.revision()
        return Outcome(len(droppable), size, deleted=deleted, revision=revision)

    def leave(self, run: Run) -> Outcome:
        dropped = self.clear((), run)
        with self._volume() as record:
            rows = list(record.rows())
            record.unsettle()
            record.forget(row.path for row in rows if lying(self.data, row.path) is None)
            pruned(self.data)
        return dropped

    def compare(self, wish: SyncWish, run: Run) -> Changes | None:
        at = address(wish)
        if not listed_cheaply(at.uri):
            return None
        with self._volume() as record, self._opened(at, run.check) as source:
            known = {row.path: row for row in record.rows()}
            return changes(checked(source.entries(), run), known, record.number(origin_of(wish)), wish)

    def measure(self, wish: MeasureWish, run: Run) -> Outcome:
        grant = Grant(wish.seconds, wish.bytes)

        def check() -> None:
            run.check()
            grant.check()

        if not wish.source:
            raise Unfit("the set names no source whose speed could be measured")
        with self._volume(), self._opened(Address(wish.source, wish.keys), check) as source:
            room(self.data, wish.bytes // 3)
            try:
                return measure(source, self._parts(), wish, run)
            finally:
                shutil.rmtree(self.own / "parts", ignore_errors=True)

    def holding(self) -> Holding:
        with self._volume() as record:
            counts = counted(self.data, record.copies())
            disk = shutil.disk_usage(self.data)
            return Holding(*counts, disk.total, disk.used, disk.free, record.revision())

    @contextmanager
    def _volume(self) -> Iterator[Index]:
        with disk_errors(self.data):
            for folder in (self.data, self.own):
                folder.mkdir(parents=True, exist_ok=True)
            with index.opened(self.own) as record:
                yield record

    def _opened(self, at: Address, check: Callable[[], None]) -> AbstractContextManager[Source]:
        return opened(at, self.own / "scratch", check)

    def _parts(self) -> Path:
        """An empty folder for copies that are not whole; what a cut-off call left goes."""
        parts = self.own / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir(parents=True)
        return parts

    def _refuse_itself(self, source: Source) -> None:
        if isinstance(source, Folder) and self.data.resolve().is_relative_to(source.root):
            raise Unfit(f"the volume lies in its own source {source.root}", next_step="correct source.uri")

    def _found(self, record: Index) -> tuple[int, int]:
        """Files and bytes that lie in the volume; of others the record knows nothing afterwards."""
        sizes = {row.path: row.size for row in self._found_rows()}
        record.forget([row.path for row in record.rows() if row.path not in sizes])
        return len(sizes), sum(sizes.values())

    def _found_rows(self) -> Iterator[Row]:
        """The files that lie in the volume, where nobody synced any."""
        found = Folder(self.data.resolve(), without=self.own.resolve()).entries()
        return (Row(e.path, e.size, "", e.time_ns, e.time_ns, "", BY_HAND) for e in found)

    def _bring_back(self, record: Index, rows: list[Row], workers: Workers, tally: Tally, run: Run) -> None:
        origin = record.origin(rows[0].source)
        if origin is None:
            raise Failed(
                f"{rows[0].path} is gone from the volume, and has no source to come back from",
                next_step="put it there again, or sync from a source",
            )
        at = Address(origin.uri, self.keys(origin.keys_name) if origin.keys_name else None, origin.no_https)
        with self._opened(at, run.check) as source:
            # Some sources know how to reach a file only after they listed it.
            by_path = {entry.path: entry for entry in source.entries()}
            each = streams((row.size for row in rows), workers.threads)
            copier = Copier(source, self._parts(), tally, workers.pace, each)

            def bring(row: Row) -> Row:
                entry = by_path.get(below(row.path, origin))
                if entry is None or (entry.size, entry.time_ns, entry.mark) != (
                    row.size,
                    row.time_ns,
                    row.mark,
                ):
                    raise Failed(
                        f"{row.path} changed at the source since it was synced", next_step="sync again"
                    )
                done = copier.copy(entry, guarded(self.data, row.path))
                return recorded(self.data, row.path, done, row.source)

            for batch in batched(together(bring, rows, workers.threads, tally), BATCH):
                record.put(batch)

    def files(self) -> list[str]:
        """The paths of all files that are recorded."""
        with self._volume() as record:
            return [row.path for row in record.rows()]

    def _revision(self) -> str:
        with self._volume() as record:
            return record.revision()


def checked(entries: Iterator[Entry], run: Run) -> Iterator[Entry]:
    for entry in entries:
        run.check()
        yield entry


def address(wish: SyncWish) -> Address:
    return Address(wish.source, wish.keys, wish.no_https)


def asked(record: Index, paths: Sequence[str] | None) -> list[Row]:
    """The rows of *paths* in the order of these, all for None. Raises `Failed` for an unknown one."""
    rows = list(record.rows())
    if paths is None:
        return rows
    by_path = {row.path: row for row in rows}
    found: dict[str, Row] = {}
    for path in map(inside, paths):
        fitting = [by_path[path]] if path in by_path else [row for row in rows if covered(row.path, [path])]
        if not fitting:
            raise Failed(
                f"there is no {path} in the sample set", next_step="correct the paths, or sync first"
            )
        found.update((row.path, row) for row in fitting)
    return list(found.values())


def recorded(data: Path, path: str, done: Done, source: int) -> Row:
    entry = done.entry
    copy_ns = (data / path).lstat().st_mtime_ns
    return Row(path, entry.size, done.sha256, copy_ns, entry.time_ns, entry.mark, source)


def below(path: str, origin: Origin) -> str:
    return path.removeprefix(f"{origin.destination}/") if origin.destination else path


def told(wrong: list[str], data: Path) -> str:
    first = wrong[0]
    what = "is not what was synced" if (data / first).exists() else "is missing in the volume"
    return f"{first} {what}" + (f", and {len(wrong) - 1} more" if len(wrong) > 1 else "")
