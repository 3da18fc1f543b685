"""A source that changed is seen by its listing; a partition that leaves takes everything along."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.cache.runs import Quiet
from tests.cache.runtimes import runtime

from paddlecloud.cache.engine import Cancelled, Changes, SyncWish, Unfit
from paddlecloud.cache.local.comparing import changes
from paddlecloud.cache.local.engine import LocalEngine
from paddlecloud.cache.local.index import Row
from paddlecloud.cache.operations import KEPT, Operation, Status, superfluous
from paddlecloud.cache.sources.opening import listed_cheaply
from paddlecloud.cache.sources.source import Entry
from paddlecloud.cache.sourcewatch import SourceSight, SourceWatch, sight, watched
from paddlecloud.errors import Failed

ROWS = {
    path: Row(path, 10, "s", 1, 5, "", origin)
    for path, origin in (("a", 1), ("in/b", 1), ("in/c", 1), ("other", 2))
}


@pytest.mark.parametrize(
    "entries, wish, found",
    [
        ([("a", 10, 5), ("in/b", 10, 5), ("in/c", 10, 5)], {}, Changes()),
        ([("a", 10, 6), ("in/b", 10, 5), ("in/c", 10, 5)], {}, Changes(changed=1, example="a")),
        ([("a", 11, 0), ("in/b", 10, 0), ("in/c", 10, 0)], {}, Changes(changed=1, example="a")),
        ([("a", 10, 5), ("in/c", 10, 5), ("z", 1, 1)], {}, Changes(new=1, gone=1, example="in/b")),
        ([("b", 10, 5), ("c", 9, 5)], {"destination": "in"}, Changes(changed=1, example="in/c")),
        ([("a", 10, 5), ("z.tmp", 1, 1)], {"exclude": r"^in|tmp$"}, Changes()),
        ([*((p, 10, 5) for p in ("a", "in/b", "in/c")), ("other", 7, 7)], {}, Changes()),
    ],
)
def test_what_is_different_at_a_source(
    entries: list[tuple[str, int, int]], wish: dict[str, Any], found: Changes
) -> None:
    listing = [Entry(path, size, time) for path, size, time in entries]

    assert changes(listing, ROWS, 1, SyncWish("s3://b", **wish)) == found


@pytest.mark.parametrize(
    "found, told",
    [
        ([], SourceSight()),
        ([None], SourceSight()),
        ([Changes(), None], SourceSight("Same")),
        (
            [Changes(1, 2, 0, "x\ny"), Changes(gone=3)],
            SourceSight(
                "Changed",
                "files at the source since the sync: 1 new, 2 changed, 3 gone ('x\\ny'); "
                "sync again to have them",
            ),
        ),
    ],
)
def test_what_is_said_of_a_source(found: list[Changes | None], told: SourceSight) -> None:
    assert sight(found) == told


def a_sync(number: int, source: str = "s3://b", **options: Any) -> Operation:
    return Operation(number, "sync", f"n{number}", {"source": source, **options}, Status.SUCCESS)


def test_a_listing_takes_a_small_share_of_the_time() -> None:
    now = [0.0]

    def compare(_: object, __: object) -> Changes:
        now[0] += 60.0
        return Changes(new=1)

    watch = SourceWatch(compare, every=300.0, clock=lambda: now[0])
    assert watch.left() == 0.0, "at the start"
    watch.look([a_sync(1)], Quiet())
    assert (watch.sight.state, watch.left()) == ("Changed", 1200.0)
    watch.synced()
    assert (watch.sight.state, watch.left()) == ("Same", 300.0)
    assert SourceWatch(compare, every=0).left() is None


@pytest.mark.parametrize("error, state", [(Failed("no route"), "Unreachable"), (Unfit("odd"), "Unreachable")])
def test_a_source_that_cannot_be_listed_is_told(error: Failed, state: str) -> None:
    def compare(*_: object) -> Changes:
        raise error

    watch = SourceWatch(compare)
    watch.look([a_sync(1)], Quiet())
    assert watch.sight == SourceSight(state, f"the source cannot be listed: {error.message}")


def test_a_listing_that_was_broken_off_says_nothing() -> None:
    def compare(*_: object) -> Changes:
        raise Cancelled("an operation came")

    watch = SourceWatch(compare)
    with pytest.raises(Cancelled):
        watch.look([a_sync(1)], Quiet())
    assert watch.sight == SourceSight()


def test_the_last_sync_from_each_source_is_compared_and_kept() -> None:
    first, far = a_sync(1), a_sync(2, "s3://far", destination="in")
    again, moved, dry = a_sync(3), a_sync(4, "s3://b", **{"delete-src": True}), a_sync(5, dry=True)

    assert watched([first, far, again, moved, dry]) == [again, far]
    others = [Operation(9 + n, "warmup", f"w{n}", {}, Status.SUCCESS) for n in range(KEPT)]
    assert superfluous([first, far, again, *others]) == [first]


@pytest.mark.parametrize(
    "uri, cheap",
    [
        ("file:///a", True),
        ("s3://b/x", True),
        ("bos://b/x", True),
        ("http://h/a.bin", True),
        ("https://h/a.tar.gz?x=1", False),
        ("webdav://h/", True),
        ("redis://h/0", True),
        ("hdfs://h/", False),
    ],
)
def test_what_cannot_be_listed_without_bringing_it_is_not_watched(uri: str, cheap: bool) -> None:
    assert listed_cheaply(uri) is cheap


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for name in ("a", "sub/new\nline"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(100))
    return folder


def test_a_runtime_sees_that_its_source_changed_and_reads_nothing_for_it(
    tmp_path: Path, source: Path
) -> None:
    with runtime(tmp_path, "--source-every", "0.05") as running:
        running.settled()
        running.send("sync", "one", source=source.as_uri())
        running.ended("sync", "one")
        assert running.info()["sourceState"] == "Same"

        (source / "sub" / "x").write_bytes(b"x")
        told = running.until(running.info, lambda info: info["sourceState"] == "Changed")
        assert "1 new ('sub/x')" in told["sourceMessage"]
        assert (told["phase"], told["totalFiles"]) == ("Synced", 2)

        running.send("sync", "two", source=source.as_uri())
        running.ended("sync", "two")
        running.until(running.info, lambda info: info["sourceState"] == "Same")
        source.rename(tmp_path / "elsewhere")
        told = running.until(running.info, lambda info: "does not exist" in info["sourceMessage"])
        assert (told["sourceState"], told["phase"]) == ("Unreachable", "Synced")


def test_a_partition_that_leaves_takes_everything_along_and_may_come_back(
    tmp_path: Path, source: Path
) -> None:
    with runtime(tmp_path) as running:
        running.settled()
        running.send("sync", "one", source=source.as_uri())
        running.ended("sync", "one")
        running.send("clear", "leave-1", leave=True)
        assert running.ended("clear", "leave-1")["status"] == "success"
        assert running.info()["phase"] == "Idle"
        assert running.ask("/syncResult/one")[0] == 404, "it would have to be copied anew"
        assert list((tmp_path / "set" / "data").iterdir()) == []
        running.send("sync", "one", source=source.as_uri())
        assert running.ended("sync", "one")["stats"]["copied"] == 2
    assert (tmp_path / "set" / "data" / "a").exists(), "who came back stays"

    with runtime(tmp_path) as running:
        running.settled()
        running.send("clear", "leave-2", leave=True)
        running.ended("clear", "leave-2")
    assert not (tmp_path / "set").exists()


def test_what_has_no_other_copy_does_not_leave(tmp_path: Path) -> None:
    own = tmp_path / "set" / "data" / "own"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with runtime(tmp_path) as running:
        running.settled()
        running.send("clear", "leave-1", leave=True)
        assert "the only one" in running.ended("clear", "leave-1")["message"]
    assert own.read_text() == "mine"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_disk_that_fills_up_during_a_warm_up_is_a_sentence_and_what_was_brought_stays(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "large").write_bytes(bytes(5000))
    engine = LocalEngine(tmp_path / "data", tmp_path / "index")
    engine.sync(SyncWish(source.as_uri()), Quiet())
    engine.clear((), Quiet())
    full, real = os.open("/dev/full", os.O_WRONLY), os.write
    monkeypatch.setattr(os, "write", lambda number, data: real(full if len(data) == 5000 else number, data))
    try:
        with pytest.raises(Failed, match="No space left on device") as raised:
            engine.warm(None, 1, Quiet())
        assert "free space" in raised.value.next_step
    finally:
        monkeypatch.undo()
        os.close(full)
    assert engine.holding().total_files == 3
    assert engine.warm(None, 1, Quiet()).files == 3
    assert engine.holding().cached_files == 3
