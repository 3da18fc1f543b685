"""The record of what a volume should hold, in SQLite: a row a file, written after the file has its name.

A row says what the file was at its source and how its copy lay on the disk when it was whole; a copy that
lies otherwise is not counted. A record that is lost or damaged costs reading, never data.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from ..engine import File, revision

BY_HAND = 0
"""The number of the source of files that somebody put into the volume."""
ONLY_HERE = -1
"""The number for files that were removed from their source after the sync."""
UNTRUSTED = -1
"""The time of a copy that was found to be wrong: no file has it."""
PAGE = 5000
PATIENCE = 30.0
"""Seconds that one waits for another who writes."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS files (path BLOB PRIMARY KEY, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
    copy_ns INTEGER NOT NULL, time_ns INTEGER NOT NULL, mark TEXT NOT NULL, source INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (number INTEGER PRIMARY KEY, uri TEXT NOT NULL, keys TEXT NOT NULL,
    no_https INTEGER NOT NULL, destination BLOB NOT NULL, UNIQUE (uri, keys, no_https, destination));
CREATE TABLE IF NOT EXISTS said (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Row(NamedTuple):
    path: str
    size: int
    sha256: str
    copy_ns: int
    """The time of the copy on the disk."""
    time_ns: int
    """The time at the source."""
    mark: str
    source: int


class Origin(NamedTuple):
    """Where files were synced from; the Secret is named, never its content."""

    uri: str
    keys_name: str
    no_https: bool
    destination: str


class Index:
    """One connection; used by one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def rows(self) -> Iterator[Row]:
        """All, one by one, in the order of their paths."""
        for path, *rest in self._db.execute(f"SELECT {', '.join(Row._fields)} FROM files ORDER BY path"):
            yield Row(os.fsdecode(path), *rest)

    def pages(self) -> Iterator[list[Row]]:
        """All, some thousands at a time; between two pages rows may be written."""
        after = b""
        while rows := self._db.execute(
            f"SELECT {', '.join(Row._fields)} FROM files WHERE path > ? ORDER BY path LIMIT ?",
            (after, PAGE),
        ).fetchall():
            yield [Row(os.fsdecode(path), *rest) for path, *rest in rows]
            after = rows[-1][0]

    def sums(self) -> tuple[int, int]:
        """Files and bytes."""
        found = self._db.execute("SELECT COUNT(*), COALESCE(SUM(size), 0) FROM files").fetchone()
        return int(found[0]), int(found[1])

    def all_by_hand(self) -> bool:
        """Whether nothing here came from a source."""
        return not self._db.execute("SELECT 1 FROM files WHERE source != ? LIMIT 1", (BY_HAND,)).fetchone()

    def copies(self) -> Iterator[tuple[bytes, int, int]]:
        """Path, size and time of every copy as it was when it was whole, one by one."""
        return self._db.execute("SELECT path, size, copy_ns FROM files ORDER BY path")

    def put(self, rows: Iterable[Row]) -> None:
        with self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
                ((os.fsencode(row.path), *row[1:]) for row in rows),
            )

    def forget(self, paths: Iterable[str]) -> None:
        with self._db:
            self._db.executemany("DELETE FROM files WHERE path = ?", ((os.fsencode(p),) for p in paths))

    def distrust(self, paths: Iterable[str]) -> None:
        with self._db:
            self._db.executemany(
                "UPDATE files SET copy_ns = ? WHERE path = ?", ((UNTRUSTED, os.fsencode(p)) for p in paths)
            )

    def number(self, origin: Origin) -> int:
        """The number that rows name *origin* by; given at the first call."""
        values = (origin.uri, origin.keys_name, int(origin.no_https), os.fsencode(origin.destination))
        with self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO sources (uri, keys, no_https, destination) VALUES (?, ?, ?, ?)", values
            )
        found = self._db.execute(
            "SELECT number FROM sources WHERE (uri, keys, no_https, destination) = (?, ?, ?, ?)", values
        )
        return int(found.fetchone()[0])

    def origin(self, number: int) -> Origin | None:
        found = self._db.execute(
            "SELECT uri, keys, no_https, destination FROM sources WHERE number = ?", (number,)
        ).fetchone()
        return Origin(found[0], found[1], bool(found[2]), os.fsdecode(found[3])) if found else None

    def revision(self) -> str:
        """The identity of what was synced last; empty before."""
        found = self._db.execute("SELECT value FROM said WHERE name = 'revision'").fetchone()
        return str(found[0]) if found else ""

    def settle(self) -> str:
        """Note that the rows are complete. Returns their revision."""
        now = revision(File(row.path, row.size, row.sha256) for row in self.rows())
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO said VALUES ('revision', ?)", (now,))
        return now

    def unsettle(self) -> None:
        with self._db:
            self._db.execute("DELETE FROM said WHERE name = 'revision'")


@contextmanager
def opened(folder: Path) -> Iterator[Index]:
    """The record below *folder*; one that cannot be understood is begun anew, and the files tell.

    Where the damage shows only on the way, the error is the caller's, and the next call begins anew.
    """
    file = folder / "files.db"
    try:
        connection = connected(file)
    except sqlite3.DatabaseError as error:
        if not damaged(error):
            raise
        drop(file)
        connection = connected(file)
    with closing(connection):
        try:
            yield Index(connection)
        except sqlite3.DatabaseError as error:
            if damaged(error):
                drop(file)
            raise


def damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether it is the content that is wrong: a lock or a full disk is of another class."""
    return type(error) is sqlite3.DatabaseError


def drop(file: Path) -> None:
    for name in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        name.unlink(missing_ok=True)


def connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=PATIENCE)
    try:
        # Who only looks is not held up by who writes.
        to_wal(connection)
        # Nor does who writes wait until the disk has taken all the copies made meanwhile: what a power cut
        # damages is begun anew.
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def to_wal(connection: sqlite3.Connection) -> None:
    """Of several who make a new record, SQLite refuses at once all but one, however long they would wait."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.005)
