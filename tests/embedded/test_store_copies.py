"""Backup and restore of a store."""

from pathlib import Path

import pytest

from paddlecloud.embedded.store import Place, Store, copies
from paddlecloud.errors import Failed, WrongUse

HERE = Place("/configmaps", "default", "a")


async def a_store(path: Path, value: str) -> Store:
    store = Store(path)
    await store.put(HERE, {"data": {"key": value}}, 0)
    return store


async def test_a_copy_of_a_running_store_holds_what_was_acknowledged(tmp_path: Path) -> None:
    store = await a_store(tmp_path / "store.db", "kept")
    assert copies.take(tmp_path / "store.db", tmp_path / "copy.db") == 1
    await store.close()
    again = Store(tmp_path / "copy.db")
    entry = again.get(HERE)
    assert entry and entry.load()["data"] == {"key": "kept"}
    await again.close()


async def test_what_was_there_before_a_restore_is_kept_beside_it(tmp_path: Path) -> None:
    first = await a_store(tmp_path / "first.db", "first")
    copies.take(tmp_path / "first.db", tmp_path / "copy.db")
    await first.close()
    second = await a_store(tmp_path / "store.db", "second")
    await second.close()
    kept = copies.put_back(tmp_path / "copy.db", tmp_path / "store.db")
    restored, before = Store(tmp_path / "store.db"), Store(kept or Path())
    values = [s.get(HERE) for s in (restored, before)]
    assert [v.load()["data"]["key"] for v in values if v] == ["first", "second"]
    for store in (restored, before):
        await store.close()


@pytest.mark.parametrize("content, error", [(None, WrongUse), (b"no database at all" * 100, WrongUse)])
def test_a_file_that_is_no_copy_is_refused_before_anything_is_touched(
    tmp_path: Path, content: bytes | None, error: type[Exception]
) -> None:
    if content is not None:
        (tmp_path / "copy.db").write_bytes(content)
    (tmp_path / "store.db").write_bytes(b"what is there")
    with pytest.raises(error):
        copies.put_back(tmp_path / "copy.db", tmp_path / "store.db")
    assert (tmp_path / "store.db").read_bytes() == b"what is there"


async def test_a_damaged_copy_is_refused(tmp_path: Path) -> None:
    store = await a_store(tmp_path / "store.db", "x" * 100_000)
    copies.take(tmp_path / "store.db", tmp_path / "copy.db")
    await store.close()
    content = bytearray((tmp_path / "copy.db").read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / "copy.db").write_bytes(content)
    with pytest.raises((Failed, WrongUse)):
        copies.check(tmp_path / "copy.db")


def test_others_cannot_read_a_copy(tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        database.execute("CREATE TABLE revisions (revision INTEGER)")
        database.commit()
    copies.take(tmp_path / "store.db", tmp_path / "copy.db")
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0
