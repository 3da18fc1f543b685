"""Copies of a store: taken while it runs, checked before they are put back."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from ...errors import Failed, WrongUse


def take(store: Path, to: Path) -> int:
    """Write a consistent copy of a store, running or not; returns its revision."""
    if not store.exists():
        raise Failed(f"there is no store at {store}")
    part = to.with_name(f"{to.name}.part")
    part.unlink(missing_ok=True)
    try:
        os.close(os.open(part, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
            # A copy is one file: it must not need the log beside it.
            target.execute("PRAGMA journal_mode=DELETE")
        revision = check(part)
        part.replace(to)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        raise Failed(f"the copy could not be written to {to}: {error}") from error
    return revision


def check(copy: Path) -> int:
    """The revision of a whole copy; raises `WrongUse` for a file that is none, `Failed` for a damaged one."""
    if not copy.is_file():
        raise WrongUse(f"{copy} does not exist")
    try:
        with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as database:
            [[verdict]] = database.execute("PRAGMA integrity_check(1)").fetchall()
            if verdict != "ok":
                raise Failed(f"{copy} is damaged: {verdict}")
            [[revision]] = database.execute("SELECT coalesce(max(revision), 0) FROM revisions").fetchall()
    except sqlite3.DatabaseError as error:
        raise WrongUse(f"{copy} is no copy of a store: {error}") from error
    return int(revision)


def put_back(copy: Path, store: Path) -> Path | None:
    """Put a checked copy in the place of a store that nobody has open; what was there is kept beside it."""
    check(copy)
    kept = None
    if store.exists():
        kept = store.with_name(f"{store.name}.before-restore")
        store.replace(kept)
    for beside in ("-wal", "-shm"):
        store.with_name(store.name + beside).unlink(missing_ok=True)
    part = store.with_name(f"{store.name}.part")
    part.write_bytes(copy.read_bytes())
    part.chmod(0o600)
    part.replace(store)
    return kept
