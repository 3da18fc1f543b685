"""The metadata of file systems: in a Redis that goes away and comes back; shared by several sets."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cache import sources_of_others as others
from tests.cache.juicefs_stage import Course, a_source, client_or_skip, mounted
from tests.cache.runtimes import runtime
from tests.kubernetes.waiting import until

from paddlecloud.cache.engine import SyncWish
from paddlecloud.cache.juicefs import filesystem
from paddlecloud.cache.juicefs.client import Client
from paddlecloud.cache.juicefs.filesystem import FileSystem
from paddlecloud.errors import Failed

FILES = {f"{i % 3}/{i}": b"x" * 1000 for i in range(20)}
PASSWORD = "word-of-the-redis"
ASKS_ONCE = "max_retries=1"
"""The client itself asks again for half a minute and more."""


@pytest.fixture(scope="module")
def client() -> Client:
    return client_or_skip()


def test_a_metadata_engine_that_is_gone_is_told_and_its_return_needs_nobody(
    client: Client, tmp_path: Path
) -> None:
    source, port = a_source(tmp_path / "source", FILES), others.free_port()
    (tmp_path / "redis").mkdir()
    url, secret = f"redis://127.0.0.1:{port}/1?{ASKS_ONCE}", {"META_PASSWORD": PASSWORD}
    system = FileSystem("tried", url, "file", f"{tmp_path}/objects/", secret)
    with ExitStack() as redis:
        redis.enter_context(others.redis(tmp_path / "redis", PASSWORD, port))
        with mounted(client, tmp_path / "fs", "--io-retries=1", system=system) as engine:
            engine.sync(SyncWish(source), Course())
            engine.warm(None, 4, Course())
            held = engine.holding()
            assert (held.total_files, held.cached_files) == (20, 20)

            redis.close()
            told = [complaint(lambda: engine.verify(Course())), complaint(engine.holding)]
            told += [complaint(lambda: engine.sync(SyncWish(source), Course()))]
            assert all(told), "nothing was said of a file system that cannot be read"
            assert "0 files" not in str(told), "what cannot be seen is not gone"
            assert "check that its metadata engine" in told[0] and PASSWORD not in str(told)

            redis.enter_context(others.redis(tmp_path / "redis", PASSWORD, port))
            until(lambda: not complaint(lambda: engine.verify(Course())), what="that the file system is back")
            back = engine.holding()
            assert back.revision == held.revision and back.cached_files == 20, "nothing was lost"
            assert engine.sync(SyncWish(source), Course()).copied == 0


def test_a_runtime_tells_that_its_metadata_engine_is_gone_and_that_it_is_back(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{client.path.parent}:{os.environ['PATH']}")
    source, port = a_source(tmp_path / "source", FILES), others.free_port()
    (tmp_path / "redis").mkdir()
    url, secret = f"redis://127.0.0.1:{port}/1?{ASKS_ONCE}", {"META_PASSWORD": PASSWORD}
    system = FileSystem("tried", url, "file", f"{tmp_path}/objects/", secret)
    with ExitStack() as redis:
        redis.enter_context(others.redis(tmp_path / "redis", PASSWORD, port))
        with (
            mounted(client, tmp_path / "fs", "--io-retries=1", system=system) as engine,
            runtime(tmp_path, "--engine", "juicefs", "--data", str(engine.data)) as served,
        ):
            served.send("sync", "first", source=source)
            assert served.ended("sync", "first")["status"] == "success"
            before = served.settled()
            assert (before["phase"], before["totalFiles"]) == ("Synced", 20)

            redis.close()
            gone = served.until(served.info, lambda info: info["phase"] == "Failed")
            assert gone["message"] and gone["message"] == gone["errorMassage"]
            assert gone["totalFiles"] == 20, "what cannot be seen is not gone"
            assert PASSWORD not in str(gone)

            redis.enter_context(others.redis(tmp_path / "redis", PASSWORD, port))
            back = served.until(served.info, lambda info: info["phase"] == "Synced")
            assert back["revision"] == before["revision"]
            assert (back["totalFiles"], back["cachedFiles"]) == (20, before["cachedFiles"])


def complaint(deed: Callable[[], object]) -> str:
    """What is wrong with it; empty when it was done."""
    try:
        deed()
    except Failed as error:
        return str(error)
    return ""


def test_sets_with_folders_of_their_own_share_a_file_system_and_no_file(
    client: Client, tmp_path: Path
) -> None:
    system = filesystem.in_folder("tried", tmp_path / "system")
    (tmp_path / "system").mkdir()
    with (
        mounted(client, tmp_path / "a", "--subdir=/sets/a", system=system) as a,
        mounted(client, tmp_path / "b", "--subdir=/sets/b", system=system) as b,
        mounted(client, tmp_path / "all", system=system) as whole,
    ):
        for engine, name in ((a, "a"), (b, "b")):
            source = a_source(tmp_path / f"source-{name}", {"same": name.encode(), f"of-{name}": b"x"})
            engine.sync(SyncWish(source, delete_dst=True), Course())
        a.sync(SyncWish(f"file://{tmp_path}/source-a", delete_dst=True), Course())
        a.remove(["of-a"], Course())

        assert (a.data / "same").read_text() == "a" and (b.data / "same").read_text() == "b"
        assert a.holding().total_files == 1 and b.holding().total_files == 2
        assert whole.holding().total_files == 3
        b.verify(Course())
