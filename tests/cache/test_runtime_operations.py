"""The runtime over HTTP: operations in order, kept over restarts, for those who have the token."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cache.runtimes import PATIENCE, TOKEN, Runtime, command, runtime


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for number in range(20):
        (folder / f"class {number % 2}").mkdir(parents=True, exist_ok=True)
        (folder / f"class {number % 2}" / f"{number}.bin").write_bytes(bytes(100))
    return folder


def test_the_walk_of_sync_clear_warmup_and_rmr(tmp_path: Path, source: Path) -> None:
    with runtime(tmp_path, "--partition", "1") as served:
        idle = served.settled()
        assert (idle["phase"], idle["totalSize"], idle["engine"], idle["partition"]) == (
            "Idle",
            0,
            "local",
            1,
        )

        served.send("sync", "sync-1", source=source.as_uri())
        done = served.ended("sync", "sync-1")
        assert (done["status"], done["message"], done["progress"]) == ("success", "", None)
        assert {k: v for k, v in done["stats"].items() if k != "seconds"} == {
            "files": 20,
            "bytes": 2000,
            "copied": 20,
            "skipped": 0,
            "deleted": 0,
        }
        info = served.info()
        assert (info["phase"], info["totalFiles"], info["cachedSize"]) == ("Synced", 20, 2000)
        assert info["revision"] and info["errorMassage"] == "" and info["diskAvail"] > 0

        served.send("clear", "clear-1")
        assert served.ended("clear", "clear-1")["stats"]["deleted"] == 20
        cleared = served.info()
        assert (cleared["totalSize"], cleared["cachedSize"], cleared["phase"]) == (2000, 0, "Cleared")

        served.send("warmup", "warm-1", strategyName="random", batchSize=4, epoch=3, threads=4)
        assert served.ended("warmup", "warm-1")["stats"]["copied"] == 20
        assert served.info()["cachedSize"] == 2000

        served.send("rmr", "rmr-1", paths=["class 1"])
        assert served.ended("rmr", "rmr-1")["stats"]["deleted"] == 10
        assert (served.info()["totalFiles"], served.info()["cachedSize"]) == (10, 1000)
        assert served.ask("/syncOptions/sync-1") == (200, {"source": source.as_uri()})
    assert sorted(os.listdir(tmp_path / "set")) == ["data", "index"]


def test_who_has_no_token_learns_only_that_it_lives(tmp_path: Path) -> None:
    with runtime(tmp_path) as served:
        assert served.ask("/healthz", token="") == (200, "ok\n")
        for path in ("/cacheStatus/cacheInfo.json", "/syncResult/x", "/", "/syncResult/", "/none", "/status"):
            for token in ("", "wrong", TOKEN + "x", TOKEN[:-1]):
                assert served.ask(path, token=token)[0] == 401
        assert served.ask("/upload/clearOptions", {}, token="wrong", id="a")[0] == 401
        assert served.ask("/upload/clearOptions?terminate=1", {}, token="wrong", id="terminate")[0] == 401
        assert served.ask("/clearResult/a")[0] == 404
        for path in (
            "/",
            "/syncResult/",
            "/syncOptions",
            "/index/",
            "/cacheStatus/",
            "/syncResult/..%2f..%2ftoken",
        ):
            assert served.ask(path)[0] == 404
        (tmp_path / "token").write_text("another")
        assert served.ask("/syncResult/x")[0] == 401
        assert served.ask("/syncResult/x", token="another")[0] == 404


@pytest.mark.parametrize(
    "path, id, body, code, sentence",
    [
        ("/upload/syncOptions", "", {}, 400, "holds no id"),
        ("/upload/syncOptions", "../x", {}, 400, "holds no id"),
        ("/upload/syncOptions", "UPPER", {}, 400, "holds no id"),
        ("/upload/syncOptions", "a" * 65, {}, 400, "holds no id"),
        ("/upload/syncOptions", "a", b"{", 400, "no JSON"),
        ("/upload/syncOptions", "a", b"[]", 400, "no JSON object"),
        ("/upload/syncOptions", "a", {}, 400, "syncOptions.source is missing"),
        ("/upload/rmrOptions", "a", {}, 400, "rmrOptions.paths is missing"),
        ("/upload/rmrOptions", "a", {"paths": "x"}, 400, "no list of texts"),
        ("/upload/warmupOptions", "a", {"strategyName": "best"}, 400, "must be random or sequence"),
        ("/upload/otherOptions", "a", {}, 404, ""),
    ],
)
def test_bad_uploads_are_sentences(
    shared: Runtime, path: str, id: str, body: object, code: int, sentence: str
) -> None:
    answered, said = shared.ask(path, body, id=id)
    assert answered == code and (not sentence or sentence in said["message"])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    with runtime(tmp_path_factory.mktemp("shared")) as served:
        yield served


def test_another_method_is_refused(shared: Runtime) -> None:
    assert shared.ask("/upload/syncOptions", method="GET")[0] == 405
    assert shared.ask("/cacheStatus/cacheInfo.json", {}, method="DELETE")[0] == 405


def test_a_taken_port_is_a_sentence(shared: Runtime, tmp_path: Path) -> None:
    taken = command(tmp_path, "--port", shared.address.rpartition(":")[2])
    second = subprocess.run(taken, capture_output=True, text=True, timeout=PATIENCE)

    assert second.returncode == 1 and second.stderr.startswith("cannot listen on 127.0.0.1:")


def test_the_same_id_again_is_ignored(tmp_path: Path, source: Path) -> None:
    with runtime(tmp_path) as served:
        served.send("sync", "one", source=source.as_uri())
        assert served.ended("sync", "one")["status"] == "success"
        served.send("sync", "one", source="file:///elsewhere")
        assert served.result("sync", "one")["status"] == "success"
        assert served.ask("/syncOptions/one")[1]["source"] == source.as_uri()


def test_a_failure_is_told_and_whether_it_may_heal(tmp_path: Path, source: Path) -> None:
    with runtime(tmp_path) as served:
        served.send("sync", "gone", source="file:///no/such")
        failed = served.ended("sync", "gone")
        assert failed["status"] == "fail" and not failed["unfit"] and "does not exist" in failed["message"]
        assert served.settled()["phase"] == "Failed" and "does not exist" in served.info()["errorMassage"]
        served.send("sync", "never", source="none://no/such")
        assert served.ended("sync", "never")["unfit"]
        served.send("rmr", "out", paths=["../token"])
        assert "leads out" in served.ended("rmr", "out")["message"]
        served.send("sync", "right", source=source.as_uri())
        assert served.ended("sync", "right")["status"] == "success"
        assert served.settled()["phase"] == "Synced"
    assert (tmp_path / "token").exists()


def test_a_secret_that_comes_later_lets_the_next_sync_in(tmp_path: Path, source: Path) -> None:
    with runtime(tmp_path) as served:
        served.send("sync", "early", source=source.as_uri(), keys="mine")
        assert "the Secret mine is not there" in served.ended("sync", "early")["message"]
        (tmp_path / "keys" / "mine").mkdir(parents=True)
        (tmp_path / "keys" / "mine" / "secret-key").write_text("topsecret\n")
        served.send("sync", "later", source=source.as_uri(), keys="mine")
        assert served.ended("sync", "later")["status"] == "success"
    written = [file.read_bytes() for file in (tmp_path / "set").rglob("*") if file.is_file()]
    assert written and not any(b"topsecret" in content for content in written)


def test_what_ran_when_the_process_was_killed_is_begun_again(tmp_path: Path, source: Path) -> None:
    with runtime(tmp_path, kill=True) as first:
        # Three megabytes at a megabit a second: it is at work for long.
        (source / "slow.bin").write_bytes(bytes(3_000_000))
        first.send("sync", "long", source=source.as_uri(), bwlimit=1)
        first.send("clear", "after")
        first.until(lambda: first.result("sync", "long"), lambda r: (r["progress"] or {}).get("done", 0) > 0)
        assert first.info()["phase"] == "Syncing" and first.info()["progress"]["total"] == 3_002_000
        assert first.result("clear", "after")["status"] == "queued"
    with runtime(tmp_path) as second:
        again = second.until(lambda: second.result("sync", "long"), lambda r: r["status"] == "running")
        assert again["message"] == ""
        assert second.ask("/upload/clearOptions?terminate=1", b"null", id="terminate")[0] == 200
        assert second.ended("sync", "long")["status"] == "cancelled"
        assert second.ended("clear", "after")["status"] == "cancelled"
        second.send("sync", "fast", source=source.as_uri())
        assert second.ended("sync", "fast")["status"] == "success"


def test_a_restart_looks_at_every_file(tmp_path: Path, source: Path) -> None:
    with runtime(tmp_path) as first:
        first.send("sync", "one", source=source.as_uri())
        revision = first.ended("sync", "one") and first.info()["revision"]
    with runtime(tmp_path) as second:
        info = second.settled()
        assert (info["phase"], info["revision"]) == ("Synced", revision)
    (tmp_path / "set" / "data" / "class 0" / "0.bin").unlink()
    with runtime(tmp_path) as third:
        info = third.settled()
        assert info["phase"] == "Failed" and "0.bin is missing" in info["message"]
        assert (info["totalFiles"], info["cachedFiles"]) == (20, 19)
        third.send("warmup", "heal")
        assert third.ended("warmup", "heal")["stats"]["copied"] == 1
        assert third.settled()["phase"] == "Synced"


def test_a_warm_up_keeps_to_its_limit_tells_how_far_it_is_and_can_be_ended(
    tmp_path: Path, source: Path
) -> None:
    (source / "slow.bin").write_bytes(bytes(3_000_000))
    with runtime(tmp_path, kill=True) as first:
        first.send("sync", "all", source=source.as_uri())
        assert first.ended("sync", "all")["status"] == "success"
        first.send("clear", "none")
        assert first.ended("clear", "none")["stats"]["deleted"] == 21
        # Three megabytes at a megabit a second: half a minute, of which nobody waits for the end.
        first.send("warmup", "slow", bwlimit=1)
        under_way = first.until(
            lambda: first.result("warmup", "slow"), lambda r: (r["progress"] or {}).get("done", 0) > 1_000_000
        )["progress"]
        assert under_way["total"] == 3_002_000 and under_way["rate"] > 0 and under_way["etaSeconds"] > 0
    with runtime(tmp_path) as second:
        second.until(lambda: second.result("warmup", "slow"), lambda r: r["status"] == "running")
        assert second.ask("/upload/warmupOptions?terminate=1", b"null", id="terminate")[0] == 200
        assert second.ended("warmup", "slow")["status"] == "cancelled"
        second.send("warmup", "fast")
        assert second.ended("warmup", "fast")["stats"]["files"] == 21
        assert second.settled()["cachedFiles"] == 21


def test_a_forecast_measures_for_a_moment_and_leaves_the_samples_as_they_are(
    tmp_path: Path, source: Path
) -> None:
    with runtime(tmp_path) as served:
        served.send("sync", "all", source=source.as_uri())
        served.ended("sync", "all")
        before = served.settled()
        served.send("forecast", "it", source=source.as_uri(), seconds=1, readers=1)
        told = served.ended("forecast", "it")
        assert told["status"] == "success" and told["stats"]["seconds"] < 10
        assert all(told["measured"][name] > 0 for name in ("link", "cold", "near"))
        assert {**served.settled(), "diskUsed": 0, "diskAvail": 0} == {
            **before,
            "diskUsed": 0,
            "diskAvail": 0,
        }
        assert sorted(path.name for path in (tmp_path / "set" / "index").iterdir() if path.is_dir()) == [
            "operations"
        ]
        served.send("forecast", "nowhere")
        assert served.ended("forecast", "nowhere")["unfit"]
