"""Who commits: the loop for a write alone on a quick disk, the thread for all others, nobody else waits."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.embedded.stores import at, body, opened

from paddlecloud.embedded.store import Store
from paddlecloud.embedded.store.committing import at_once
from paddlecloud.embedded.store.revisions import LOG


@pytest.mark.parametrize(
    ("writes", "under_way", "took", "expected"),
    [
        (1, 0, 0.0003, True),
        (2, 0, 0.0003, False),  # together they cost one commit
        (1, 3, 0.0003, False),  # revisions come in order
        (1, 0, 0.02, False),  # a slow disk must not hold the loop
    ],
)
def test_the_loop_commits_by_itself(writes: int, under_way: int, took: float, expected: bool) -> None:
    assert at_once(writes, under_way, took) is expected


async def test_somebody_who_has_the_file_holds_up_the_write_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        first = await store.put(at("a"), body(), 0)
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(store.put(at("b"), body(), 0))
            for _ in range(20):
                await asyncio.sleep(0.005)
                assert store.get(at("a")) is first
            assert not writing.done()
            other.execute("ROLLBACK")
        assert (await writing).revision == first.revision + 1


async def test_writes_one_after_the_other_and_at_once_keep_their_order(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        for round_ in range(5):
            await store.put(at(f"alone-{round_}"), body(), 0)
            await asyncio.gather(*(store.put(at(f"{round_}-{i}"), body(), 0) for i in range(7)))
        assert store.revisions.count() == store.revision == 40
    async with opened(tmp_path / "store.db") as again:
        assert again.revision == 40


async def test_what_is_written_as_the_store_closes_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db")
    writing = asyncio.create_task(store.put(at("last"), body(), 0))
    await asyncio.sleep(0)
    await store.close()
    assert (await writing).revision == 1


async def test_the_log_is_moved_to_the_table_while_the_loop_writes_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with opened(path) as store:
        size = 200_000
        for i in range(3 * LOG // size):
            await store.put(at(f"big-{i}"), {"text": "x" * size}, 0)
        log = path.with_name("store.db-wal").stat().st_size
        assert path.stat().st_size > LOG and log < 2 * LOG
