"""One append-only SQLite table, a row a revision.

Two writers cannot both follow the same revision of a place: the unique index on (place, previous)
refuses the second, so optimistic concurrency is the database's promise and not a matter of locks.
A commit is on disk, power loss included (`synchronous=FULL` on a write-ahead log).
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ...errors import Failed
from .entries import Change, Entry, Place
from .soundness import check_log, told

SCHEMA = """
CREATE TABLE IF NOT EXISTS revisions (
    revision  INTEGER PRIMARY KEY,
    resource  TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    previous  INTEGER NOT NULL,
    deleted   INTEGER NOT NULL,
    value     BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS follows ON revisions (resource, namespace, name, previous);
CREATE INDEX IF NOT EXISTS newest ON revisions (resource, namespace, name, revision);
CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""
# Python's lock changes hands at every statement, and the loop wants it too: many rows go in with one. A few
# sizes only, so that each is prepared once.
INSERTIONS = {
    size: f"INSERT INTO revisions VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?)'] * size)}"
    for size in (64, 16, 4, 1)
}
COLUMNS = "r.revision, r.resource, r.namespace, r.name, r.deleted, r.value"


# Pages written again and again go to the table once in 16 MB, and not more often: writers wait for it.
LOG = 16 * 1024 * 1024
AROUND = 12 * 1024  # bytes of the log for a row, beside its value: pages of the table and of two indexes
PATIENCE = 5.0  # seconds to wait for another program that has the file
PAUSE = 0.005


class Busy(Exception):
    """Somebody else writes, and the caller did not want to wait."""


class Row(NamedTuple):
    revision: int
    place: Place
    previous: int
    deleted: bool
    value: bytes


class Revisions:
    """The table; every method is one statement or one transaction, and blocks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        self._logged = 0
        with told(path):
            check_log(path.with_name(f"{path.name}-wal"))
            # SQLite gives its side files the mode of this one, so it is closed to others from the start.
            path.touch(mode=0o600)
            self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            # The loop reads while the writer's thread commits: on its own connection it sees whole commits.
            self._reading = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            with told(path):
                self.database.execute("PRAGMA journal_mode=WAL")
                self.database.execute("PRAGMA synchronous=FULL")
                # Who waits for the file, and who moves the log, is decided here and not by SQLite.
                self.database.execute("PRAGMA busy_timeout=0")
                self.database.execute("PRAGMA wal_autocheckpoint=0")
                self.database.executescript(SCHEMA)
                self._reading.execute("PRAGMA query_only=ON")
        except Failed:
            self.close()
            raise

    def close(self) -> None:
        self._reading.close()
        self.database.close()

    def append(self, rows: Iterable[Row], patient: bool = True) -> None:
        """All of them or none, on disk when this returns; raises `Busy` where it would have to wait."""
        with self._transaction(patient) as database:
            columns = [(r.revision, *r.place, r.previous, r.deleted, r.value) for r in rows]
            for start, end in portions(len(columns)):
                database.execute(INSERTIONS[end - start], list(chain.from_iterable(columns[start:end])))
        self._logged += sum(len(value) + AROUND for *_, value in columns)

    @property
    def log_is_short(self) -> bool:
        """Whether there is still time until the log has to be moved to the table."""
        return self._logged < LOG

    def shorten_log(self) -> None:
        """Move the log to the table when it has become long: pages that were written often go there once."""
        if self.log_is_short:
            return
        with self._writing:
            # What cannot be moved now, because the disk is full or somebody reads, is moved the next time.
            with suppress(sqlite3.Error):
                self.database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._logged = 0

    @contextmanager
    def _transaction(self, patient: bool = True) -> Iterator[sqlite3.Connection]:
        """One at a time: the loop and a thread append, the loop compacts."""
        if not self._writing.acquire(blocking=patient):
            raise Busy
        try:
            self._begin(PATIENCE if patient else 0.0)
            try:
                yield self.database
                self.database.execute("COMMIT")
            except BaseException:
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
                raise
        finally:
            self._writing.release()

    def _begin(self, patience: float) -> None:
        until = time.monotonic() + patience
        while True:
            try:
                self.database.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                if not patience:
                    raise Busy from error
                if time.monotonic() > until:
                    raise
            time.sleep(PAUSE)

    def newest(self) -> Iterator[tuple[Entry, bool]]:
        """The last revision of every place, and whether it is a deletion."""
        return self._as_of(None, "")

    def as_of(self, revision: int, resource: str) -> list[Entry]:
        """The objects of a resource as they were at a revision, in the order of their places."""
        return [entry for entry, deleted in self._as_of(revision, resource) if not deleted]

    def _as_of(self, revision: int | None, resource: str) -> Iterator[tuple[Entry, bool]]:
        # `max` picks the row that the other columns come from: SQLite's documented bare-column rule.
        statement = f"""SELECT {COLUMNS}, max(r.revision) FROM revisions r
            WHERE (:revision IS NULL OR r.revision <= :revision)
            AND (:resource = '' OR r.resource = :resource)
            GROUP BY r.resource, r.namespace, r.name ORDER BY r.namespace, r.name"""
        for number, kind, namespace, name, deleted, value, _ in self._reading.execute(
            statement, {"revision": revision, "resource": resource}
        ):
            yield Entry(Place(kind, namespace, name), number, value), bool(deleted)

    def since(self, revision: int, resource: str) -> Iterator[Change]:
        """Every change of a resource after a revision, with what was there before it."""
        statement = f"""SELECT {COLUMNS}, b.value, b.deleted FROM revisions r
            LEFT JOIN revisions b ON b.revision = r.previous
            WHERE r.revision > ? AND r.resource = ? ORDER BY r.revision"""
        for number, kind, namespace, name, deleted, value, before, was_deleted in self._reading.execute(
            statement, (revision, resource)
        ):
            old = None if was_deleted or before is None else before
            yield Change(Entry(Place(kind, namespace, name), number, value), old, bool(deleted))

    def last(self) -> int:
        [[number]] = self._reading.execute("SELECT coalesce(max(revision), 0) FROM revisions")
        return max(int(number), self.compacted())

    def count(self) -> int:
        [[number]] = self._reading.execute("SELECT count(*) FROM revisions")
        return int(number)

    def compacted(self) -> int:
        """Changes up to this revision can no longer be watched from."""
        rows = self._reading.execute("SELECT value FROM marks WHERE name = 'compacted'").fetchall()
        return int(rows[0][0]) if rows else 0

    def beat(self) -> None:
        """Write a row that says nothing, to see that one can be written."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO marks VALUES ('beaten', 0)")

    def compact(self, revision: int) -> None:
        """Forget what was overwritten or deleted by *revision*; what is there now stays."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO marks VALUES ('compacted', ?)", (revision,))
            database.execute(
                """DELETE FROM revisions WHERE revision <= :revision AND (deleted OR EXISTS (
                    SELECT 1 FROM revisions n WHERE n.resource = revisions.resource
                    AND n.namespace = revisions.namespace AND n.name = revisions.name
                    AND n.revision > revisions.revision AND n.revision <= :revision))""",
                {"revision": revision},
            )


def portions(count: int) -> Iterator[tuple[int, int]]:
    """The rows from 0 to *count* in as few insertions as there are sizes for."""
    start = 0
    for size in INSERTIONS:
        while count - start >= size:
            yield start, start + size
            start += size
