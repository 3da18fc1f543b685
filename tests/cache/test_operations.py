"""Operations on the disk, their options, and what a runtime says of them: no process, no server."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cache.runs import Quiet

from paddlecloud.cache.deeds import Deeds
from paddlecloud.cache.engine import Amount, Holding, Keys, MeasureWish, Outcome, Run, SyncWish
from paddlecloud.cache.local.engine import LocalEngine
from paddlecloud.cache.mounted import mounted
from paddlecloud.cache.operations import KEPT, Ledger, Operation, Status
from paddlecloud.cache.options import WarmWish, checked, measure_wish, sync_wish, warm_wish
from paddlecloud.cache.running import Operations
from paddlecloud.cache.serving import Holdings
from paddlecloud.cache.status import Phase, Seen, phase_of, progress
from paddlecloud.errors import Failed, WrongUse


def test_operations_come_back_in_their_order_and_the_running_one_waits_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for kind, id in (("sync", "z"), ("clear", "a"), ("sync", "b")):
        ledger.add(kind, id, {"source": id})
    first = ledger.find("sync", "z")
    assert first is not None
    ledger.put(replace(first, status=Status.RUNNING))
    (tmp_path / "000000000009.sync.half.part").write_text("{")
    (tmp_path / "000000000008.sync.broken.json").write_text("{")

    again = Ledger(tmp_path)
    assert [(op.kind, op.id, op.status) for op in again.waiting()] == [
        ("sync", "z", "queued"),
        ("clear", "a", "queued"),
        ("sync", "b", "queued"),
    ]
    assert again.add("sync", "z", {"source": "other"}).options == {"source": "z"}
    assert not list(tmp_path.glob("*.part"))


def test_the_newest_results_are_kept_and_nothing_that_waits_goes(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add("clear", "waits", {})
    for number in range(KEPT + 3):
        ledger.put(
            replace(ledger.add("sync", f"id-{number}", {}), status=Status.SUCCESS, outcome=Outcome(number))
        )
    for kept in (ledger, Ledger(tmp_path)):
        assert kept.find("sync", "id-2") is None and kept.find("sync", "id-3") is not None
        assert [op.id for op in kept.waiting()] == ["waits"]
        newest = kept.newest("sync")
        assert newest is not None and newest.outcome.files == KEPT + 2
    assert len(list(tmp_path.iterdir())) == KEPT + 1


async def test_the_look_at_the_volume_gives_way_to_operations_and_is_made_up_for(tmp_path: Path) -> None:
    began: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    looks = 0

    def verify(run: Run) -> Outcome:
        nonlocal looks
        looks += 1
        loop.call_soon_threadsafe(began.put_nowait, "look")
        while looks == 1:
            run.check()
        raise Failed("a is missing")

    def deed(kind: str, options: dict[str, Any], run: Run) -> Outcome:
        loop.call_soon_threadsafe(began.put_nowait, kind)
        return Outcome(1)

    operations = Operations(Ledger(tmp_path), deed, verify)
    async with asyncio.timeout(20):
        work = asyncio.create_task(operations.run())
        assert await began.get() == "look" and operations.verifying
        operations.submit("clear", "a", {})
        assert [await began.get(), await began.get()] == ["clear", "look"]
        while not operations.looked.wrong:
            await asyncio.sleep(0)
        operations.stop()
        await work
    ended = operations.ledger.find("clear", "a")
    assert ended is not None and ended.status is Status.SUCCESS and ended.outcome.files == 1


@pytest.mark.parametrize("id", ["", "A", "a/b", "..", "a.b", "a" * 65, "ü"])
def test_an_id_is_no_path(tmp_path: Path, id: str) -> None:
    with pytest.raises(WrongUse):
        Ledger(tmp_path).add("sync", id, {})


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"source": "s3://b"}, SyncWish("s3://b")),
        (
            {
                "source": "s",
                "delete-dst": True,
                "force-update": True,
                "no-https": True,
                "bwlimit": 8,
                "http-port": 1,
            },
            SyncWish("s", delete_dst=True, force_update=True, no_https=True, bwlimit=8),
        ),
        ({"source": "s", "threads": 0}, SyncWish("s", threads=10)),
        ({"source": "s", "keys": "mine"}, SyncWish("s", Keys("a", "b"), keys_name="mine")),
    ],
)
def test_options_of_a_sync(options: dict[str, Any], expected: SyncWish) -> None:
    assert sync_wish(options, lambda _: Keys("a", "b")) == expected


@pytest.mark.parametrize(
    "kind, options, sentence",
    [
        ("sync", {"source": 1}, "must be a text"),
        ("sync", {"source": "s", "threads": "10"}, "must be a number"),
        ("sync", {"source": "s", "threads": True}, "must be a number"),
        ("sync", {"source": "s", "threads": -1}, "must be between"),
        ("sync", {"source": "s", "dry": 1}, "must be true or false"),
        ("sync", {"source": "s", "colour": 1}, "has no field colour"),
        ("sync", {"source": "s", "keys_name": "x"}, "has no field keys_name"),
        ("warmup", {"epoch": -1}, "epoch must be at least 0"),
        ("warmup", {"batchSize": "4"}, "must be a number"),
        ("warmup", {"paths": [1]}, "no list of texts"),
        ("warmup", {"bwlimit": -1}, "bwlimit must be at least 0"),
        ("forecast", {"seconds": 61}, "seconds must be between 1 and 60"),
        ("forecast", {"source": 1}, "must be a text"),
        ("clear", {"paths": "a"}, "no list of texts"),
        ("clear", 7, "no JSON object"),
    ],
)
def test_options_that_cannot_be_understood_are_sentences(kind: str, options: object, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        checked(kind, options)


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, WarmWish()),
        (
            {"strategyName": "random", "batchSize": 4, "epoch": 2},
            WarmWish(strategy="random", batch_size=4, epoch=2),
        ),
        ({"Strategy": {"strategyName": "sequence"}}, WarmWish(strategy="sequence")),
        ({"paths": ["a"], "threads": 3}, WarmWish(paths=("a",), threads=3)),
        ({"bwlimit": 8, "shareOnly": True}, WarmWish(bwlimit=8, share_only=True)),
        ({"fileList": ["b", "a"]}, WarmWish(file_list=("b", "a"))),
        ({"fileList": "list.txt"}, WarmWish(file="list.txt")),
    ],
)
def test_options_of_a_warm_up(options: dict[str, Any], expected: WarmWish) -> None:
    assert warm_wish(options) == expected


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"source": "s3://b"}, MeasureWish("s3://b")),
        ({}, MeasureWish("")),
        ({"readers": 4, "threads": 8, "seconds": 3}, MeasureWish("", readers=4, threads=8, seconds=3.0)),
        ({"keys": "mine"}, MeasureWish("", Keys("a", "mine"))),
    ],
)
def test_options_of_a_forecast(options: dict[str, Any], expected: MeasureWish) -> None:
    assert measure_wish(options, lambda name: Keys("a", name)) == expected


def test_keys_are_never_shown() -> None:
    wish = SyncWish("s", Keys("access", "secret"))
    assert "secret" not in repr(wish) and "access" not in repr(wish.keys)


@pytest.mark.parametrize(
    "files, expected",
    [
        ({"access-key": b"ak\n", "secret-key": b" sk\r\n"}, Keys("ak", "sk")),
        ({"access-key": b"ak"}, Keys("ak", "")),
        ({}, Keys("", "")),
    ],
)
def test_mounted_keys_lose_the_newline_of_the_editor(
    tmp_path: Path, files: dict[str, bytes], expected: Keys
) -> None:
    (tmp_path / "mine").mkdir()
    for name, content in files.items():
        (tmp_path / "mine" / name).write_bytes(content)
    assert mounted(tmp_path)("mine") == expected
    for other in ("none", "..", "../x", "", "UPPER"):
        assert mounted(tmp_path)(other) is None
    assert mounted(None)("mine") is None


def test_a_key_that_is_no_text_is_a_sentence_without_it(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "access-key").write_bytes(b"\xff\xfe")
    with pytest.raises(Failed, match="access-key of the Secret mine cannot be read"):
        mounted(tmp_path)("mine")


@pytest.mark.parametrize(
    "options, whole, expected",
    [
        ({"paths": ["b"]}, True, ["b/3", "b/4"]),
        ({"strategyName": "sequence"}, False, ["a/1", "b/3"]),
        ({"strategyName": "sequence"}, True, ["a/1", "b/3", "a/2", "b/4"]),
        ({"strategyName": "sequence", "shareOnly": True}, True, ["a/1", "b/3"]),
        ({"strategyName": "sequence", "batchSize": 2}, False, ["a/1", "a/2"]),
        ({"strategyName": "sequence", "fileList": ["b/4", "a/1"]}, False, ["b/4"]),
        ({"file": "order.txt"}, True, ["b/4", "a/2"]),
    ],
)
def test_which_files_a_partition_warms(
    tmp_path: Path, options: dict[str, Any], whole: bool, expected: list[str]
) -> None:
    warmed: list[list[str] | None] = []

    class Listening(LocalEngine):
        def warm(self, files: Any, threads: int, run: Any, bwlimit: int = 0) -> Outcome:
            warmed.append(files)
            return Outcome()

    (tmp_path / "order.txt").write_text("b/4\na/2\n")
    engine = Listening(tmp_path, tmp_path / "own")
    deeds = Deeds(engine, tmp_path, lambda: ["a/1", "a/2", "b/3", "b/4"], lambda _: None, 0, whole)
    deeds.carried_out("warmup", {"partitions": 2, **options}, Quiet())
    assert warmed == [expected]


async def test_a_volume_that_keeps_silent_is_told_and_is_back_by_itself(tmp_path: Path) -> None:
    silent, full = threading.Event(), Holding(3, 30, 3, 30, revision="abc")

    class Silent(LocalEngine):
        def holding(self) -> Holding:
            silent.wait(20)
            return full

    engine = Silent(tmp_path / "data", tmp_path / "index")
    operations = Operations(Ledger(tmp_path / "operations"), lambda *_: Outcome(), engine.verify)
    holdings = Holdings(engine, operations, answer=0.01, silence=0.03)
    assert await holdings.now() == (Holding(), ""), "for a moment it is told as it was"
    async with asyncio.timeout(10):
        while not (said := (await holdings.now())[1]):
            pass
    assert "has not answered for 0 s" in said
    silent.set()
    async with asyncio.timeout(10):
        while await holdings.now() != (full, ""):
            pass


SYNC = Operation(1, "sync", "a", {})
FULL = Holding(3, 30, 3, 30, revision="abc")


@pytest.mark.parametrize(
    "seen, expected",
    [
        (Seen(Holding()), (Phase.IDLE, "")),
        (Seen(FULL), (Phase.SYNCED, "3 files")),
        (
            Seen(replace(FULL, cached_files=1)),
            (Phase.CLEARED, "1 of 3 files are here; a warm-up or a sync brings the others"),
        ),
        (Seen(FULL, verifying=True), (Phase.VERIFYING, "looking at the files")),
        (Seen(Holding(), SYNC, amount=Amount(1, 5, 3, 30)), (Phase.SYNCING, "1 of 3 files")),
        (Seen(Holding(), SYNC, amount=Amount()), (Phase.SYNCING, "listing the source")),
        (Seen(FULL, replace(SYNC, kind="warmup"), amount=Amount(1, 5, 3, 30)), (Phase.SYNCED, "3 files")),
        (Seen(FULL, wrong="a is missing"), (Phase.FAILED, "a is missing")),
        (Seen(FULL, last_sync=replace(SYNC, status=Status.FAIL, message="no")), (Phase.FAILED, "no")),
        (Seen(FULL, last_sync=replace(SYNC, status=Status.CANCELLED)), (Phase.SYNCED, "3 files")),
        (Seen(FULL, trouble="the disk is gone"), (Phase.FAILED, "the disk is gone")),
    ],
)
def test_the_phase_of_a_runtime(seen: Seen, expected: tuple[Phase, str]) -> None:
    assert phase_of(seen, whole=True) == expected


def test_what_comes_from_a_shared_file_system_need_not_be_cached() -> None:
    assert phase_of(Seen(replace(FULL, cached_files=1)), whole=False)[0] is Phase.SYNCED


def test_progress_has_a_rate_and_an_end() -> None:
    assert progress(None, 5) is None
    assert progress(Amount(1, 50, 2, 150), 5) == {
        "done": 50,
        "total": 150,
        "unit": "bytes",
        "rate": 10.0,
        "etaSeconds": 10.0,
        "message": "1 of 2 files",
    }
    begun = progress(Amount(), 0)
    assert begun is not None and begun["etaSeconds"] is None
