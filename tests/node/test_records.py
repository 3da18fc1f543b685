"""Records of VisualDL: their bytes, where they are looked for, and what is told of a run that writes some."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.node.isolation_levels import LEVELS, levels_or_skip
from tests.node.pod_yard import NODE, Yard

from paddlecloud.embedded.node import records
from paddlecloud.embedded.node.kubelet import serving
from paddlecloud.embedded.node.recordplaces import Found, Place, own_records, places, search
from paddlecloud.embedded.node.records import PIECE, RecordFile, RunRecords
from paddlecloud.embedded.node.vdlrecords import Scalar, newest, scalars, whole_records

ALL = 1 << 30


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    groups = []
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*groups, number))


def length(content: bytes) -> bytes:
    return varint(len(content)) + content


def a_message(tag: str, step: int, content: bytes) -> bytes:
    head = b"\x08" + varint(step) + b"\x12" + length(tag.encode()) + b"\x18" + varint(1000 + step)
    return b"\n" + length(head + content)


def number(value: float) -> bytes:
    return b"\x25" + struct.pack("<f", value)


def in_group(name: str, value: float) -> bytes:
    return b"\x72" + length(b"\n" + length(name.encode()) + b"\x15" + struct.pack("<f", value))


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(8, "little") + message


def a_record(tag: str = "loss", step: int = 1, value: float = 0.5) -> bytes:
    return framed(a_message(tag, step, number(value)))


PICTURE = a_message("picture", 1, b"\x2a" + length(b"\x22" + length(bytes(500))))


@pytest.mark.parametrize(
    "message, found",
    [
        (a_message("train/loss", 3, number(0.5)), [Scalar("train/loss", 3, 0.5, 1003)]),
        (a_message("a", -2, number(-1.0)), [Scalar("a", -2, -1.0, 998)]),
        (a_message("a", 1 << 40, number(0.0)), [Scalar("a", 1 << 40, 0.0, 1000 + (1 << 40))]),
        (a_message("both", 3, in_group("a", 1.5)), [Scalar("both/a", 3, 1.5, 1003)]),
        (a_message("é", 1, number(1.0)) * 2, [Scalar("é", 1, 1.0, 1001)] * 2),
        (PICTURE, []),
        (b"", []),
        (b"\n", []),
        (b"\n\x7f", []),
        (b"\x0b", []),
        (b"\x80" * 20, []),
        (b"\n\x02\x25\x00", []),
        (b"\n\x02\x0a\x00", []),
        (b"\x08\x07", []),
        (a_message("x" * 300, 1, number(1.0)), []),
    ],
)
def test_a_record_tells_numbers_and_damage_tells_nothing(message: bytes, found: list[Scalar]) -> None:
    assert scalars(message) == found


@pytest.mark.parametrize("missing", range(len(a_record()) + 1))
def test_a_record_that_is_being_written_is_not_there_yet(missing: int) -> None:
    data = (a_record(step=1) + a_record(step=2))[: -missing or None]

    assert len(list(whole_records(data))) == (2 if missing == 0 else 1)


def test_the_last_number_of_each_tag_counts_however_the_tags_are_called() -> None:
    tags = ["loss", "train/loss", "s", "train/loss/x"]
    data = b"".join(a_record(tag, step, step / 2) for step in range(1, 50) for tag in tags)
    data += b"".join(framed(a_message("g", 7, in_group(name, 2.0))) for name in "ab") + framed(PICTURE)
    found = newest(data, list(whole_records(data)))

    assert {tag: one.step for tag, one in found.items()} == {**dict.fromkeys(tags, 49), "g/a": 7, "g/b": 7}
    assert found["loss"].value == 24.5


RUN = Path("/home/pods/u/containers/main/0")


@pytest.mark.parametrize(
    "order, found",
    [
        (
            {"cwd": "/c", "paths": {"/w": str(RUN / "code"), "/data": "/volumes/one"}},
            [("/home/pods/u/home", "", False), ("/c", "", True), (str(RUN / "code"), "", False),
             ("/volumes/one", "", True)],
        ),
        ({"cwd": "/"}, [("/home/pods/u/home", "", False)]),
        (
            {"cwd": "/w", "sandbox": {"mounts": [
                {"target": "/w", "source": "/suites/code", "laid": "code"},
                {"target": "/data", "source": "/volumes/one", "readOnly": False, "subPath": "a/b"},
                {"target": "/usr", "source": "/usr", "readOnly": True},
                {"target": "/fast", "size": 3},
            ]}},
            [(str(RUN / "upper"), "", False), (str(RUN / "code/upper"), "", False),
             ("/volumes/one", "a/b", True)],
        ),
    ],
)  # fmt: skip
def test_a_run_may_write_to_its_own_folders_and_its_volumes(
    order: dict[str, Any], found: list[tuple[str, str, bool]]
) -> None:
    assert places(order, RUN) == [Place(Path(folder), inner, shared) for folder, inner, shared in found]


def made(folder: Path, path: str, content: bytes = b"") -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def test_files_are_found_by_their_names_and_no_link_is_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    made(inside, "runs/a/vdlrecords.1700000000.log")
    made(inside, "vdlrecords.1700000001.log.suffix")
    made(inside, "log.txt")
    made(inside, ".git/vdlrecords.1700000000.log")
    made(inside, "/".join("d" * 20) + "/vdlrecords.1700000000.log")
    target = made(outside, "vdlrecords.1700000000.log")
    (inside / "vdlrecords.1700000002.log").symlink_to(target)
    (inside / "linked").symlink_to(outside)
    (inside / "vdlrecords.1700000003.log").mkdir()
    os.mkfifo(inside / "vdlrecords.1700000004.log")

    found = {f.path: f.made for f in search(Place(inside))}
    assert found == {
        "vdlrecords.1700000001.log.suffix": 1700000001, "runs/a/vdlrecords.1700000000.log": 1700000000,
    }  # fmt: skip
    assert [f.path for f in search(Place(inside, "runs/a"))] == ["runs/a/vdlrecords.1700000000.log"]
    assert not list(search(Place(inside, "linked"))) and not list(search(Place(tmp_path / "none")))


def test_a_crowded_folder_hides_no_other(tmp_path: Path) -> None:
    for n in range(100):
        made(tmp_path, f"crowd/{n}.jpg")
    made(tmp_path, "runs/vdlrecords.1700000000.log")
    found = search(Place(tmp_path), entries=60, crowd=20)

    assert [f.path for f in found] == ["runs/vdlrecords.1700000000.log"]
    assert not list(search(Place(tmp_path), entries=2))


@pytest.mark.parametrize(
    "own, shared, found",
    [
        (["a/vdlrecords.1700000009.log"], [], ["a/vdlrecords.1700000009.log"]),
        (["a/vdlrecords.1699999999.log"], [], []),
        (["a/vdlrecords.1700000009.log"], ["b/vdlrecords.1700000005.log"], ["a/vdlrecords.1700000009.log"]),
        (
            [],
            ["old/vdlrecords.1600000000.log", "b/vdlrecords.1700000005.log", "c/vdlrecords.1700000006.log",
             "b/vdlrecords.1700000007.log"],
            ["b/vdlrecords.1700000005.log", "b/vdlrecords.1700000007.log"],
        ),
    ],
)  # fmt: skip
def test_only_files_that_the_run_made_itself_are_its_own(
    tmp_path: Path, own: list[str], shared: list[str], found: list[str]
) -> None:
    for folder, names in (("own", own), ("shared", shared)):
        (tmp_path / folder).mkdir()
        for name in names:
            made(tmp_path / folder, name)
    where = [Place(tmp_path / "own"), Place(tmp_path / "shared", shared=True)]

    assert [f.path for f in own_records(where, 1700000000.7)] == found


def test_a_file_whose_name_tells_no_time_counts_when_it_was_written_to(tmp_path: Path) -> None:
    file = made(tmp_path, "vdlrecords.mine.log")
    os.utime(file, (1700000005, 1700000005))

    assert [f.made for f in own_records([Place(tmp_path)], 1700000000)] == [1700000005]
    assert not own_records([Place(tmp_path)], 1700000006)


def a_file(folder: Path, content: bytes) -> tuple[Path, RecordFile]:
    path = made(folder, "vdlrecords.1700000000.log", content)
    return path, RecordFile(Found(Place(folder), path.name, 1700000000))


def steps(file: RecordFile) -> dict[str, int]:
    file.read_on(ALL)
    return {tag: one.step for tag, one in file.newest.items()}


def test_what_is_added_is_read_and_what_is_begun_anew_too(tmp_path: Path) -> None:
    half = a_record(step=9)
    path, file = a_file(tmp_path, a_record(step=1) + half[:11])
    assert steps(file) == {"loss": 1}

    with path.open("ab") as writing:
        writing.write(half[11:] + a_record("acc", 3))
    assert steps(file) == {"loss": 9, "acc": 3}

    path.write_bytes(a_record(step=2))
    assert steps(file) == {"loss": 2}


def test_long_records_are_passed_over_and_a_long_file_is_read_in_pieces(tmp_path: Path) -> None:
    picture = framed(a_message("picture", 1, b"\x2a" + length(bytes(2 * PIECE))))
    many = b"".join(a_record(step=step) for step in range(1, 20_000))
    path, file = a_file(tmp_path, a_record("first") + picture + many + a_record("last"))
    assert steps(file) == {"first": 1, "loss": 19_999, "last": 1}

    again = RecordFile(Found(Place(tmp_path), path.name, 0))
    again.read_on(100)
    assert list(again.newest) == ["first"]


def test_a_length_that_nobody_wrote_ends_the_reading(tmp_path: Path) -> None:
    _, file = a_file(tmp_path, a_record() + b"\xff" * 64)

    assert steps(file) == {"loss": 1} and steps(file) == {"loss": 1}


def test_a_file_holds_only_so_many_tags(tmp_path: Path) -> None:
    _, file = a_file(tmp_path, b"".join(a_record(f"tag{n}") for n in range(3 * records.MOST_TAGS)))

    assert len(steps(file)) == records.MOST_TAGS


def test_what_takes_the_place_of_a_file_is_not_opened(tmp_path: Path) -> None:
    path, file = a_file(tmp_path, a_record())
    path.unlink()
    path.symlink_to(made(tmp_path, "secret", a_record("stolen")))
    with pytest.raises(OSError):
        file.read_on(ALL)
    path.unlink()
    os.mkfifo(path)
    assert steps(file) == {}


class Asking:
    def __init__(self, yard: Yard, session: aiohttp.ClientSession) -> None:
        self.yard, self.session = yard, session

    async def __call__(self, pod: str = "p", container: str = "main") -> tuple[int, Any]:
        url = f"http://node/containerRecords/d/{pod}/{container}"
        async with asyncio.timeout(20), self.session.get(url) as answer:
            text = await answer.text()
            return answer.status, json.loads(text) if answer.status == 200 else text

    async def tags(self) -> dict[str, Any]:
        status, body = await self()
        assert status == 200
        return {one["tag"]: one["value"] for one in body["scalars"]}


@pytest.fixture(params=LEVELS)
async def ask(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Asking]:
    yard = Yard(tmp_path, levels_or_skip(request.param))
    path = yard.home.run / "node.sock"
    async with (
        serving(path, yard.roster, yard.shop),
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path))) as session,
    ):
        yield Asking(yard, session)
        await yard.close()


def writes(path: str, content: bytes) -> str:
    text = base64.b64encode(content).decode()
    return f"mkdir -p {path}; echo {text} | base64 -d > {path}/vdlrecords.$(date +%s).log; "


async def test_records_are_told_wherever_a_container_writes_them(ask: Asking, tmp_path: Path) -> None:
    yard = ask.yard
    script = writes("runs/a", a_record("train/loss", 3, 0.5)) + writes("$HOME/b", a_record("acc", 1, 0.25))
    yard.run("sh", "-c", script + "while ! test -e /v/go; do sleep 0.02; done; "
             + writes("/v/late", a_record("late")) + writes("$HOME/late", a_record("end", 1, float("nan"))),
             container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
             volumes=[{"name": "v", "emptyDir": {}}])  # fmt: skip
    found: dict[str, Any] = {}
    async with asyncio.timeout(20):
        while len(found) < 2:
            await asyncio.sleep(0.05)
            found = await ask.tags() if yard.now().phase == "Running" else {}
    assert found == {"train/loss": 0.5, "acc": 0.25}

    folder = yard.roster.find("d", "p")
    assert folder is not None
    (folder.volumes / "v" / "go").touch()
    await yard.finished()
    assert await ask.tags() == {"train/loss": 0.5, "acc": 0.25, "late": 0.5, "end": None}


async def test_on_a_volume_of_others_only_own_records_are_told(ask: Asking, tmp_path: Path) -> None:
    volume = tmp_path / "shared"
    made(volume, "sub/other/vdlrecords.1700000000.log", a_record("theirs"))
    made(volume, "beside/vdlrecords.9000000000.log", a_record("unseen"))
    volume.chmod(0o777)
    (volume / "sub").chmod(0o777)
    ask.yard.run("sh", "-c", writes("/v/mine", a_record("ours")),
                 container={"volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "sub"}]},
                 volumes=[{"name": "v", "hostPath": {"path": str(volume)}}])  # fmt: skip
    await ask.yard.finished()

    assert await ask.tags() == {"ours": 0.5}


async def test_who_writes_no_records_tells_none(ask: Asking) -> None:
    ask.yard.run("true")
    await ask.yard.finished()

    assert await ask() == (200, {"scalars": []})
    assert (await ask("nobody"))[0] == 404 and (await ask("p", "other"))[0] == 404


def looked(run: RunRecords) -> list[str]:
    run.look()
    return [one.tag for one in run.known]


async def test_files_are_looked_for_again_after_a_rest_and_at_the_end(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    try:
        yard.run("sh", "-c", writes("a", a_record("one")) + "while ! test -e go; do sleep 0.02; done")
        run_folder = yard.home.pods(NODE) / "uid-p" / "containers" / "main" / "0"
        code = run_folder / "code"
        await yard.until(lambda: list(code.glob("a/*.log")) and (run_folder / "state.json").exists())
        now = 0.0

        def clock() -> float:
            nonlocal now
            now += 1.0
            return now

        run = RunRecords(run_folder, clock)
        await yard.until(lambda: looked(run))
        made(code, "b/vdlrecords.9000000000.log", a_record("two"))
        assert looked(run) == ["one"]
        now += records.REST
        assert looked(run) == ["one", "two"]

        made(code, "c/vdlrecords.9000000000.log", a_record("three"))
        (code / "go").touch()
        await yard.finished()
        assert looked(run) == ["one", "two", "three"]
    finally:
        await yard.close()
