"""One sync of the engine `local`: list, decide, bring, record, and remove what was asked to go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ...errors import Failed
from ..engine import Outcome, Run, SyncWish
from ..paths import covered, guarded, inside
from ..sources.source import Entry, Source
from .choosing import Deed, deed, refuse_clashes, selection
from .copying import BATCH, Copier, Done, Tally, batched, read, together
from .disk import lying, room
from .index import ONLY_HERE, Index, Origin, Row
from .parting import streams
from .throttle import Throttle

MOST_THREADS = 64


@dataclass(frozen=True)
class Sync:
    data: Path
    parts: Path
    record: Index
    wish: SyncWish
    run: Run
    shown: str
    """The source in messages."""
    _safe: set[str] = field(default_factory=set)

    def carried_out(self, source: Source) -> Outcome:
        entries = self._listed(source)
        known = {row.path: row for row in self.record.rows()}
        deeds = {e: deed(e, known.get(p := self._path(e)), lying(self.data, p), self.wish) for e in entries}
        todo = [entry for entry in entries if deeds[entry] is not Deed.KEEP]
        brought = [entry for entry in todo if deeds[entry] is Deed.COPY]
        size = sum(entry.size for entry in entries)
        if self.wish.dry:
            return Outcome(len(entries), size, len(brought), len(entries) - len(brought))
        room(self.data, sum(entry.size for entry in brought))
        # Noted from the first: at no moment may a copy pass for one that could be brought again.
        number = ONLY_HERE if self.wish.delete_src else self.record.number(origin_of(self.wish))
        tally = Tally(self.run, len(entries), size)
        tally.add(len(entries) - len(todo), size - sum(entry.size for entry in todo))
        if todo or self.wish.delete_dst:
            # Until all is there, what was there before is not the whole any more.
            self.record.unsettle()
        copied = 0
        threads = max(1, min(self.wish.threads, MOST_THREADS))
        each = streams((entry.size for entry in brought), threads)
        copier = Copier(source, self.parts, tally, Throttle(self.wish.bwlimit), each)

        def work(entry: Entry) -> tuple[Row, bool]:
            done = self._done(entry, deeds[entry], copier, tally)
            return self._row(done, number), done.copied

        for batch in batched(together(work, todo, threads, tally), BATCH):
            self.record.put(row for row, _ in batch)
            copied += sum(was_copied for _, was_copied in batch)
        # Of files that are the same at two sources, the one that was synced last is noted.
        kept = (known[self._path(entry)] for entry in entries if deeds[entry] is Deed.KEEP)
        self.record.put(row._replace(source=number) for row in kept if row.source != number)
        deleted = self._removed(entries, known, number)
        if self.wish.dirs:
            for folder in source.folders():
                guarded(self.data, self._below(folder)).mkdir(parents=True, exist_ok=True)
        revision = self.record.settle()
        if self.wish.delete_src:
            # A power cut must not take what the source has no more.
            os.sync()
            for entry in entries:
                self.run.check()
                source.delete(entry)
        self.parts.rmdir()
        return Outcome(len(entries), size, copied, len(entries) - copied, deleted, revision)

    def _listed(self, source: Source) -> list[Entry]:
        asked = selection(self.wish)
        entries: list[Entry] = []
        found = 0
        for entry in source.entries():
            self.run.check()
            found += 1
            if asked(entry.path):
                entries.append(entry)
        if not entries:
            what = "has no files that are asked for" if found else "has no files"
            raise Failed(f"{self.shown} {what}", next_step="put the samples there")
        refuse_clashes(entry.path for entry in entries)
        return sorted(entries)

    def _done(self, entry: Entry, what: Deed, copier: Copier, tally: Tally) -> Done:
        path = self._path(entry)
        target = self._target(path)
        if what is Deed.CHECK:
            sha256 = read(target, tally)
            tally.add(1, 0)
            return Done(entry, sha256, copied=False)
        return copier.copy(entry, target, entry.mode if self.wish.perms else 0)

    def _removed(self, entries: list[Entry], known: dict[str, Row], number: int) -> int:
        """Remove what the source has not, if asked to, and forget what neither has. Returns the number."""
        kept = {self._path(entry) for entry in entries}
        asked, root = selection(self.wish), inside(self.wish.destination)
        gone = [
            path
            for path in known
            if path not in kept and covered(path, [root]) and asked(self._relative(path, root))
        ]
        if not self.wish.delete_dst:
            missing = (path for path in gone if lying(self.data, path) is None)
            self.record.forget(path for path in missing if known[path].source == number)
            return 0
        deleted = 0
        for path in {*gone, *self._lying_below(root)} - kept:
            self.run.check()
            if asked(self._relative(path, root)) and lying(self.data, path) is not None:
                guarded(self.data, path).unlink(missing_ok=True)
                deleted += 1
        self.record.forget(gone)
        return deleted

    def _lying_below(self, root: str) -> Iterator[str]:
        top = self.data / root
        for at in sorted(top.rglob("*")):
            # The folder of the engine may lie in that of the data; it is above the parts.
            if at.is_file() and not at.is_relative_to(self.parts.parent):
                yield at.relative_to(self.data).as_posix()

    def _path(self, entry: Entry) -> str:
        return self._below(entry.path)

    def _below(self, path: str) -> str:
        return f"{self._root}/{path}" if self._root else path

    @cached_property
    def _root(self) -> str:
        return inside(self.wish.destination)

    def _target(self, path: str) -> Path:
        """Where *path* goes; each folder on the way is looked at once."""
        parent = path.rpartition("/")[0]
        if parent not in self._safe:
            guarded(self.data, path)
            self._safe.add(parent)
        return self.data / path

    def _relative(self, path: str, root: str) -> str:
        return path.removeprefix(f"{root}/") if root else path

    def _row(self, done: Done, number: int) -> Row:
        path, entry = self._path(done.entry), done.entry
        there = lying(self.data, path)
        if there is None:
            raise Failed(
                f"{path} went away while it was synced", next_step="see who else writes to the volume"
            )
        return Row(path, entry.size, done.sha256, there.time_ns, entry.time_ns, entry.mark, number)


def origin_of(wish: SyncWish) -> Origin:
    return Origin(wish.source, wish.keys_name, wish.no_https, inside(wish.destination))
