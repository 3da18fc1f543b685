"""Logs that outlive their pods: what is kept, how it is asked for, and when it goes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from tests.node.pod_yard import Yard

from paddlecloud.embedded.node import logarchive
from paddlecloud.embedded.node.kubelet import serving
from paddlecloud.embedded.node.logarchive import KEPT_SECONDS, LogArchive
from paddlecloud.embedded.node.podfolder import PodFolder, Record, every_pod

NOW = 1_800_000_000.0
STAMP = "2026-11-16T01:47:13.000000000Z stdout F"


class Archive:
    """An archive and pods that leave something in it, at times of one's choice."""

    def __init__(self, root: Path) -> None:
        self.root, self.time = root, NOW
        self.kept = LogArchive(root / "podlogs", lambda: self.time)

    def bury(self, name: str, said: str = "words", *, uid: str = "", owner: str = "", runs: int = 1) -> Path:
        uid = uid or f"uid-{name}"
        pod = PodFolder(self.root / "pods" / uid)
        pod.settle(Record(uid, "ml", name, "one", "127.0.0.1", ("first",), ("main", "side"), owner=owner))
        for number in range(runs):
            run = pod.run_folder("main", number)
            run.mkdir(parents=True)
            (run / "run.json").write_text("{}")
            (run / "log").write_text(f"{STAMP} {said} {number}\n" if said else "")
        self.kept.keep(pod)
        return pod.path

    def names(self) -> list[str]:
        return sorted(path.parent.parent.name for path in (self.root / "podlogs").glob("*/*/*/pod.json"))


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def test_a_pod_is_found_by_name_by_uid_and_by_owner_the_newest_first_to_hand(archive: Archive) -> None:
    archive.bury("p", uid="old", owner="PaddleJob/j")
    archive.time += 1
    archive.bury("p", uid="new", owner="PaddleJob/j")
    archive.bury("q", owner="PaddleJob/other")

    found = archive.kept.find("ml", "p")
    assert found is not None and found.record.uid == "new"
    found = archive.kept.find("ml", "p", "old")
    assert found is not None and found.record.uid == "old" and found.removed_at == NOW
    assert [pod.record.uid for pod in archive.kept.owned("ml", "PaddleJob/j")] == ["old", "new"]
    assert archive.kept.find("ml", "p", "another") is None


def test_every_run_is_kept_and_a_pod_that_said_nothing_is_not(archive: Archive) -> None:
    archive.bury("p", runs=2)
    archive.bury("silent", said="")

    found = archive.kept.find("ml", "p")
    assert found is not None and [path.name for path in found.runs("main")] == ["0", "1"]
    assert found.runs("side") == [] and found.runs("../p") == []
    assert archive.names() == ["p"]


@pytest.mark.parametrize(
    "namespace, name", [("..", "p"), ("ml", ".."), (".coming", "p"), ("", ""), ("ml/p", "u")]
)
def test_what_is_asked_for_is_a_name_and_never_a_path(archive: Archive, namespace: str, name: str) -> None:
    archive.bury("p")

    assert archive.kept.find(namespace, name) is None
    assert archive.kept.owned(f"{namespace}/..", "") == []


def test_a_removal_that_was_cut_short_is_taken_up_again(archive: Archive) -> None:
    coming = archive.root / "podlogs" / logarchive.COMING / "uid-p" / "main" / "0"
    coming.mkdir(parents=True)
    (coming / "log").write_text("moved before the end of the process\n")
    assert archive.kept.find("ml", "p") is None

    pod = archive.bury("p", said="")

    found = archive.kept.find("ml", "p")
    assert found is not None and (found.folder / "main/0/log").read_text().startswith("moved before")
    archive.kept.keep(PodFolder(pod))
    assert archive.kept.find("ml", "p") == found


def test_what_is_older_than_a_week_goes_and_the_rest_stays(archive: Archive) -> None:
    archive.bury("old")
    archive.time += 10
    archive.bury("new")
    archive.time = NOW + KEPT_SECONDS + 5
    archive.kept.sweep()

    assert archive.names() == ["new"]
    assert not (archive.root / "podlogs" / "ml" / "old").exists()


@pytest.mark.parametrize("limit, value", [("KEPT_BYTES", 2500), ("KEPT_PODS", 2)])
def test_the_oldest_go_when_there_is_too_much(
    archive: Archive, limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logarchive, limit, value)
    for number in range(4):
        archive.bury(f"p{number}", said="x" * 900)
        archive.time += 1
    archive.kept.sweep()

    assert archive.names() == ["p2", "p3"]


def test_a_flood_of_logs_is_swept_as_it_comes(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logarchive, "KEPT_PODS", 1)
    monkeypatch.setattr(logarchive, "SWEPT_AFTER", 1)
    for number in range(3):
        archive.bury(f"p{number}")
        archive.time += 1

    assert archive.names() == ["p2"]


def test_a_disk_that_refuses_costs_the_log_and_not_the_removal(archive: Archive) -> None:
    (archive.root / "podlogs").write_text("not a folder")
    archive.bury("p")

    assert archive.kept.find("ml", "p") is None
    archive.kept.sweep()


def test_only_files_are_kept_and_no_links(archive: Archive) -> None:
    pod = PodFolder(archive.root / "pods" / "u")
    pod.settle(Record("u", "ml", "p", "one", "127.0.0.1", (), ("main",)))
    run = pod.run_folder("main", 0)
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    os.symlink("/etc/passwd", run / "log")
    archive.kept.keep(pod)

    assert archive.kept.find("ml", "p") is None


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    made = Yard(tmp_path)
    made.archive = LogArchive(made.home.pod_logs, made.clock)
    await made.restart()
    yield made
    await made.close()


async def test_the_log_of_a_pod_that_is_gone_is_asked_for_like_any_other(yard: Yard) -> None:
    pod = yard.run("printf", "one\ntwo\nthree\n")
    await yard.finished()
    yard.shelf.delete(yard.shelf.pods[pod.key])
    async with asyncio.timeout(20):
        await yard.roster.idle()
    assert not every_pod(yard.home)

    path = yard.home.run / "node.sock"
    async with (
        serving(path, yard.roster, yard.shop),
        aiohttp.ClientSession("http://node", connector=aiohttp.UnixConnector(str(path))) as session,
    ):

        async def ask(address: str) -> tuple[int, str]:
            async with asyncio.timeout(20), session.get(address) as answer:
                return answer.status, await answer.text()

        assert await ask("/keptLogs/d/p") == (200, "one\ntwo\nthree\n")
        assert await ask("/keptLogs/d/p?tailLines=1&follow=true") == (200, "three\n")
        assert await ask(f"/keptLogs/d/p?uid={pod.uid}&container=main") == (200, "one\ntwo\nthree\n")
        assert (await ask("/keptLogs/d/p?uid=other"))[0] == 404
        assert await ask("/keptLogs/d/p?previous=true") == (
            404,
            "no previous log of container main of pod p is kept",
        )
        assert await ask("/keptLogs/d/q") == (404, "no log of a pod q is kept in namespace d")
        status, text = await ask("/keptPods/d?owner=")
        assert status == 200 and [item["uid"] for item in json.loads(text)["items"]] == [pod.uid]
