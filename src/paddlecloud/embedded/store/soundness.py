"""Whether a store on disk is whole, looked at before anybody opens it.

SQLite forgives a damaged write-ahead log: it stops reading at the first wrong frame, and commits that were
acknowledged are gone without a word. A transaction begins only after the one before it is on disk; so a
wrong frame with two more commits behind it cannot be the last write of a machine that lost its power.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ...errors import Failed, NoSpace, Unavailable

MAGIC = (0x377F0682, 0x377F0683)
HEADER, FRAME = struct.Struct(">8I"), struct.Struct(">6I")
RESTORE = "put a copy back with `pdc restore FILE`, or move it away to start empty"
WAIT = "end the other program, then start again"


def examine(path: Path) -> None:
    """Raises `Failed` for a store that is damaged or cannot be opened; one that is not there yet is fine."""
    if not path.exists():
        return
    with told(path):
        check_log(path.with_name(f"{path.name}-wal"))
        with closing(sqlite3.connect(path)) as database:
            [[verdict]] = database.execute("PRAGMA quick_check(1)").fetchall()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)


def check_log(log: Path) -> None:
    """Raises `sqlite3.DatabaseError` when commits of a write-ahead log would be passed over."""
    content = log.read_bytes() if log.exists() else b""
    if len(content) < HEADER.size:
        return
    magic, _, page, _, *salts, one, two = HEADER.unpack_from(content)
    if magic not in MAGIC or checksum(content[:24], (0, 0), magic) != (one, two):
        raise sqlite3.DatabaseError(f"the header of its write-ahead log {log.name} is damaged")
    sums, wrong, commits, size = (one, two), 0, 0, FRAME.size + page
    for number, start in enumerate(range(HEADER.size, len(content) - size + 1, size), 1):
        _, pages, *found, one, two = FRAME.unpack_from(content, start)
        if found != salts:
            return  # what an earlier round of the log left behind
        frame = content[start : start + 8] + content[start + FRAME.size : start + size]
        if checksum(frame, sums, magic) != (one, two):
            wrong, commits = wrong or number, 0
        elif wrong and pages:
            commits += 1
            if commits == 2:
                raise sqlite3.DatabaseError(f"frame {wrong} of its write-ahead log {log.name} is damaged")
        # What the next frame is reckoned from, as this one says: a wrong page does not hide the rest.
        sums = (one, two)


def checksum(content: bytes, sums: tuple[int, int], magic: int) -> tuple[int, int]:
    """SQLite's: two sums of 32 bits that run through the whole log."""
    one, two = sums
    words = struct.unpack(f"{'><'[magic == MAGIC[0]]}{len(content) // 4}I", content)
    for i in range(0, len(words), 2):
        one = (one + words[i] + two) & 0xFFFFFFFF
        two = (two + words[i + 1] + one) & 0xFFFFFFFF
    return one, two


@contextmanager
def told(path: Path) -> Iterator[None]:
    """A file that is no store, or no longer one, ends in a sentence."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise Failed(f"the store {path} cannot be opened: {error}", next_step=next_step(error)) from error


def refusal(error: Exception) -> Unavailable:
    """Why a write could not be kept, and whether room would help."""
    sentence = f"the store could not write: {error}"
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return NoSpace(f"{sentence}; nothing of it was kept: make room on the disk and try again")
    return Unavailable(sentence)


def next_step(error: Exception) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return WAIT
    if isinstance(error, OSError) or code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return "make the folder and the file writable for yourself, or choose another --home"
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return "make room on the disk, then start again"
    return RESTORE
