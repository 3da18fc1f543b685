"""The store: one line of revisions, refused conflicts, watches without gaps, a past that ends."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from tests.embedded.stores import PATIENCE, RESOURCE, at, body, next_of, opened

from paddlecloud.embedded.store import Change, Changes, Store, watches
from paddlecloud.embedded.store.revisions import Revisions, Row
from paddlecloud.errors import Conflict, Expired, TooManyRequests


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(tmp_path / "store.db") as made:
        yield made


async def changed(store: Store, name: str, times: int) -> int:
    """Write one object so often; the last revision."""
    entry = store.get(at(name))
    revision = entry.revision if entry else 0
    for count in range(times):
        revision = (await store.put(at(name), body(count=count), revision)).revision
    return revision


async def test_every_write_is_the_next_revision_and_carries_it(store: Store) -> None:
    first = await store.put(at("a"), body(x=1), 0)
    second = await store.put(at("b"), body(), 0)
    third = await store.put(at("a"), body(x=2), first.revision)

    assert [e.revision for e in (first, second, third)] == [1, 2, 3]
    assert third.load() == {"metadata": {"resourceVersion": "3"}, "data": {"x": 2}}
    assert store.get(at("a")) == third and store.revision == 3


@pytest.mark.parametrize("previous", [0, 1, 7])
async def test_a_write_must_follow_the_newest_revision(store: Store, previous: int) -> None:
    await changed(store, "a", 2)
    with pytest.raises(Conflict):
        await store.put(at("a"), body(), previous)
    with pytest.raises(Conflict):
        await store.delete(at("a"), body(), previous)

    assert store.revision == 2


async def test_of_two_that_read_the_same_only_one_writes(store: Store) -> None:
    revision = await changed(store, "a", 1)
    results = await asyncio.gather(
        *(store.put(at("a"), body(by=i), revision) for i in range(5)), return_exceptions=True
    )

    assert sum(isinstance(r, Conflict) for r in results) == 4
    entry = store.get(at("a"))
    assert entry is not None and entry.load()["data"] == {"by": 0}


async def test_what_was_deleted_can_be_made_again(store: Store) -> None:
    revision = await changed(store, "a", 1)
    await store.delete(at("a"), body(), revision)
    assert store.get(at("a")) is None
    with pytest.raises(Conflict):
        await store.put(at("a"), body(), revision)

    again = await store.put(at("a"), body(), 0)
    assert again.revision == 3


async def test_places_differ_by_namespace_and_resource(store: Store) -> None:
    for place in (at("a"), at("a", "other"), at("a", resource="/secrets")):
        await store.put(place, body(), 0)

    assert [e.place.namespace for e in store.entries(RESOURCE)] == ["ml", "other"]
    assert [e.place for e in store.entries(RESOURCE, "other")] == [at("a", "other")]


def row(revision: int, previous: int, name: str = "a") -> Row:
    return Row(revision, at(name), previous, False, b"{}")


def test_the_database_itself_refuses_two_that_follow_the_same(tmp_path: Path) -> None:
    table = Revisions(tmp_path / "store.db")
    table.append([row(1, 0)])
    with pytest.raises(sqlite3.IntegrityError):
        table.append([row(2, 1), row(3, 1)])

    assert table.count() == 1  # all of a batch or nothing
    table.append([row(2, 1), row(3, 0, "b")])
    assert table.last() == 3
    table.close()


async def test_a_store_that_is_opened_again_is_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        await changed(store, "a", 3)
        gone = await changed(store, "b", 1)
        await store.delete(at("b"), body(), gone)
        kept = store.entries(RESOURCE)
    async with opened(tmp_path / "store.db") as store:
        assert store.entries(RESOURCE) == kept and store.revision == 5
        assert (await store.put(at("b"), body(), 0)).revision == 6


async def test_a_watch_tells_what_happened_and_what_was_before(store: Store) -> None:
    watch = store.watch(RESOURCE, 0)
    revision = await changed(store, "a", 2)
    await store.put(at("x", resource="/secrets"), body(), 0)
    await store.delete(at("a"), body(last=1), revision)
    told = [await next_of(watch) for _ in range(3)]

    assert [(c.revision, c.created, c.deleted) for c in told] == [
        (1, True, False), (2, False, False), (4, False, True),
    ]  # fmt: skip
    assert told[1].before == told[0].entry.value
    watch.close()


@pytest.mark.parametrize("recent", [2, 4096])
async def test_a_watch_may_begin_in_the_past_from_memory_or_disk(
    store: Store, recent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store._recent = type(store._recent)(maxlen=recent)
    await changed(store, "a", 10)
    watch = store.watch(RESOURCE, 4)
    await changed(store, "a", 1)

    assert [(await next_of(watch)).revision for _ in range(7)] == [5, 6, 7, 8, 9, 10, 11]
    watch.close()


async def test_what_was_worked_out_of_a_change_is_not_kept_after_it_was_told(store: Store) -> None:
    heard: list[Change] = []
    watch = store.watch(RESOURCE, 0)

    def listen(changes: Changes) -> None:
        for change in changes:
            assert change.body and not change.kept
            change.kept["look"] = b"as it goes out"
        heard.extend(changes)

    watch.listen(listen)
    await changed(store, "a", 3)
    while len(heard) < 3:
        await asyncio.sleep(0)
    late = store.watch(RESOURCE, 0)
    late.listen(listen)

    assert [c.revision for c in store._recent] == [1, 2, 3] and len(heard) == 6
    assert not any(c.kept or "body" in vars(c) for c in store._recent)
    watch.close()
    late.close()


async def test_watches_miss_nothing_while_many_write(store: Store) -> None:
    writers, each = 6, 40

    async def follow(after: int) -> list[int]:
        watch = store.watch(RESOURCE, after)
        seen = [after]
        while seen[-1] < writers * each:
            seen.append((await next_of(watch)).revision)
        watch.close()
        return seen[1:]

    async def follow_from_the_middle() -> list[int]:
        while store.revision < writers * each // 2:
            await asyncio.sleep(0)
        return await follow(store.revision // 2)

    early = [asyncio.create_task(follow(0)) for _ in range(3)]
    late = [asyncio.create_task(follow_from_the_middle()) for _ in range(3)]
    await asyncio.gather(*(changed(store, f"w{i}", each) for i in range(writers)))

    async with asyncio.timeout(PATIENCE):
        for seen in await asyncio.gather(*early, *late):
            assert seen == list(range(seen[0], writers * each + 1))
    assert [t.result()[0] for t in early] == [1, 1, 1]


async def test_a_watch_ends_with_the_store_and_hears_all_that_was_acknowledged(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        watch = store.watch(RESOURCE, 0)
        await changed(store, "a", 3)

    assert [c.revision async for c in watch] == [1, 2, 3]


async def test_a_watch_that_begins_before_a_change_is_told_hears_it_once(store: Store) -> None:
    first, last = await asyncio.gather(changed(store, "a", 1), changed(store, "b", 1))
    from_now, from_before = store.watch(RESOURCE, last), store.watch(RESOURCE, first - 1)
    await changed(store, "c", 1)

    assert [(await next_of(from_before)).revision for _ in range(3)] == [1, 2, 3]
    assert (await next_of(from_now)).revision == 3
    assert await from_before.next(0.0) is None and await from_now.next(0.0) is None


async def test_a_reader_that_falls_behind_is_cut_off(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "BACKLOG", 3)
    watch = store.watch(RESOURCE, 0)
    await changed(store, "a", 5)

    assert [(await next_of(watch)).revision for _ in range(3)] == [1, 2, 3]
    with pytest.raises(TooManyRequests):
        await watch.next(PATIENCE)


async def test_silence_is_told_as_none(store: Store) -> None:
    assert await store.watch(RESOURCE, 0).next(0.0) is None


async def test_a_list_may_be_as_of_an_earlier_time(store: Store) -> None:
    await changed(store, "a", 2)
    await changed(store, "b", 1)
    await store.delete(at("a"), body(), 2)

    def names(revision: int, namespace: str = "") -> list[tuple[str, int]]:
        entries = store.entries_as_of(RESOURCE, namespace, revision)
        return [(e.place.name, e.revision) for e in entries]

    assert names(1) == [("a", 1)]
    assert names(3) == [("a", 2), ("b", 3)]
    assert names(4) == [("b", 3)]
    assert names(3, "other") == []


async def test_the_past_ends_where_it_was_compacted(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        await changed(store, "a", 10)
        gone = await changed(store, "b", 1)
        await store.delete(at("b"), body(), gone)
        last = await changed(store, "a", 8)
        assert not store.compact_if_due(kept=15)
        assert store.compact_if_due(kept=5)
        assert store.compacted == last - 5

        with pytest.raises(Expired):
            store.watch(RESOURCE, store.compacted - 1)
        with pytest.raises(Expired):
            store.entries_as_of(RESOURCE, "", store.compacted - 1)
        assert [e.revision for e in store.entries_as_of(RESOURCE, "", store.compacted)] == [store.compacted]
        watch = store.watch(RESOURCE, store.compacted)
        assert [(await next_of(watch)).revision for _ in range(5)] == list(range(last - 4, last + 1))
        assert store.revisions.count() == 6
    async with opened(tmp_path / "store.db") as store:
        entry = store.get(at("a"))
        assert entry is not None and entry.revision == last
        assert (await store.put(at("b"), body(), 0)).revision == last + 1
        with pytest.raises(Expired):
            store.watch(RESOURCE, 1)


def test_a_compaction_waits_for_the_write_that_is_under_way(tmp_path: Path) -> None:
    table = Revisions(tmp_path / "store.db")
    table.append([row(1, 0)])
    with ThreadPoolExecutor() as pool:

        def rows() -> Iterator[Row]:
            compacting.append(pool.submit(table.compact, 1))
            assert not wait(compacting, timeout=0.2).done
            yield row(2, 1)

        compacting: list[Future[None]] = []
        table.append(rows())
        compacting[0].result(PATIENCE)

    assert (table.compacted(), table.last(), table.count()) == (1, 2, 2)
    table.close()


async def test_compacting_does_not_disturb_those_who_write(store: Store) -> None:
    writing = asyncio.gather(*(changed(store, f"w{i}", 60) for i in range(4)))
    compactions = 0
    while not writing.done():
        compactions += store.compact_if_due(kept=5)
        await asyncio.sleep(0)
    await writing

    assert compactions > 3
    assert store.revision == 240


async def test_a_change_knows_whether_it_made_the_object(store: Store) -> None:
    entry = await store.put(at("a"), body(), 0)

    assert Change(entry, None, False).created
    assert not Change(entry, b"{}", False).created and not Change(entry, None, True).created
