"""What was acknowledged is there, whatever happens to the process, the disk or the file."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from tests.embedded.stores import RESOURCE, at, body, opened
from tests.kubernetes.processes import Ended, running
from tests.kubernetes.waiting import until

from paddlecloud.embedded.store import Store
from paddlecloud.errors import Failed, Unavailable

ROOT = Path(__file__).parent.parent.parent


def killed_while_writing(path: Path, folder: Path) -> list[tuple[str, int, int]]:
    """Every write that the writer had acknowledged before it was killed: name, count, revision."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    arguments = ["-m", "tests.embedded.store_writer", str(path)]
    with (
        pytest.raises(Ended, match="code -9"),
        running(Path(sys.executable), arguments, folder, environ) as writer,
    ):
        until(lambda: len(writer.log.read_bytes().splitlines()) > 300, what="300 writes")
        writer.popen.send_signal(signal.SIGKILL)
        writer.popen.wait(10)
    # The last line may be half written: that write was not said to anybody.
    lines = (folder / "log").read_text().rpartition("\n")[0].splitlines()
    return [(name, int(count), int(revision)) for name, count, revision in map(str.split, lines)]


async def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    told = killed_while_writing(tmp_path / "store.db", tmp_path / "writer")
    async with opened(tmp_path / "store.db") as store:
        for name, count, revision in told:
            entries = store.entries_as_of(RESOURCE, "", revision)
            [entry] = [e for e in entries if e.place.name == name]
            assert (entry.revision, entry.load()["data"]["count"]) == (revision, count)
        assert store.revision >= max(revision for _, _, revision in told)
        assert (await store.put(at("after"), body(), 0)).revision == store.revision


async def full(store: Store) -> list[str]:
    """Fill the database to a limit; the names that were acknowledged before it was reached."""
    [[pages]] = store.revisions.database.execute("PRAGMA page_count")
    store.revisions.database.execute(f"PRAGMA max_page_count={pages + 20}")
    kept = []
    with pytest.raises(Unavailable, match="could not write"):
        for i in range(100):
            await store.put(at(f"big-{i}"), body(text="x" * 5000), 0)
            kept.append(f"big-{i}")
    return kept


async def test_a_full_disk_fails_the_write_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        kept = await full(store)
        revision = store.revision
        assert [e.place.name for e in store.entries(RESOURCE)] == sorted(kept)

        watch = store.watch(RESOURCE, revision)
        store.revisions.database.execute("PRAGMA max_page_count=100000")
        entry = await store.put(at("later"), body(), 0)
        assert entry.revision == revision + 1
        told = await watch.next(10)
        assert told is not None and told.entry == entry
    async with opened(tmp_path / "store.db") as store:
        assert {e.place.name for e in store.entries(RESOURCE)} == {*kept, "later"}


async def test_a_batch_that_fails_fails_for_all_of_its_writers(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        await full(store)
        before = store.entries(RESOURCE)
        results = await asyncio.gather(
            *(store.put(at(f"more-{i}"), body(text="y" * 5000), 0) for i in range(50)), return_exceptions=True
        )
        assert all(isinstance(r, Unavailable) for r in results)
        assert store.entries(RESOURCE) == before

        store.revisions.database.execute("PRAGMA max_page_count=100000")
        again = await asyncio.gather(*(store.put(at(f"more-{i}"), body(), 0) for i in range(50)))
        assert [e.revision for e in again] == sorted(e.revision for e in again)
        assert len(store.entries(RESOURCE)) == len(before) + 50


async def test_a_disk_that_refuses_to_compact_is_told_and_forgets_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        for i in range(12):
            await store.put(at(f"n-{i}"), body(), 0)
        store.revisions.database.execute("PRAGMA query_only=ON")
        with pytest.raises(Unavailable, match="could not be compacted"):
            store.compact_if_due(kept=5)
        store.revisions.database.execute("PRAGMA query_only=OFF")

        assert (store.compacted, store.revisions.count()) == (0, 12)
        await store.put(at("later"), body(), 0)
        assert store.compact_if_due(kept=5)


async def test_a_file_that_is_no_store_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is not a database, but it is long enough to be looked at" * 100)
    with pytest.raises(Failed, match=r"the store .*store\.db cannot be opened") as caught:
        Store(path)
    assert "move it away" in caught.value.next_step


async def test_a_damaged_store_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with opened(path) as store:
        for i in range(200):
            await store.put(at(f"n-{i}"), body(text="z" * 500), 0)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(Failed, match="cannot be opened"):
        Store(path)


async def test_a_folder_that_is_missing_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="cannot be opened"):
        Store(tmp_path / "nowhere" / "store.db")


async def test_other_users_cannot_read_the_store(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        async with opened(tmp_path / "store.db") as store:
            await store.put(at("secret"), body(), 0)
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    finally:
        os.umask(old)

    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}


async def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        database = store.revisions.database
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert isinstance(database, sqlite3.Connection)
