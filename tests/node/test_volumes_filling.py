"""Volumes that the cluster fills: their files, how they change at once, what they say when they cannot."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.node.volume_shelf import Cupboard, a_place, a_pod, a_token, named, one, texts

from paddlecloud.api.core import ConfigMap, Secret
from paddlecloud.embedded.node.obstacles import VolumeMissing
from paddlecloud.embedded.node.volumes import layout, prepare, tokens
from paddlecloud.embedded.node.volumes.content import File

SETTINGS = named(
    ConfigMap, "settings", data={"a": "1", "b": "2"}, binaryData={"raw": base64.b64encode(b"\0x").decode()}
)
KEYS = named(Secret, "keys", data={"token": base64.b64encode(b"s3cret").decode()})
TOKEN = {"projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}]}}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_files_of_a_config_map_are_links_to_one_version(tmp_path: Path) -> None:
    folder = await one(tmp_path, {"configMap": {"name": "settings"}}, Cupboard(SETTINGS))
    assert texts(folder) == {"a": "1", "b": "2", "raw": "\0x"}
    assert os.readlink(folder / "a") == "..data/a"
    assert len([name for name in os.listdir(folder) if name.startswith("..")]) == 2


async def test_a_change_shows_new_files_and_takes_the_old_ones_away(tmp_path: Path) -> None:
    sources, volume = Cupboard(SETTINGS), {"configMap": {"name": "settings"}}
    folder = await one(tmp_path, volume, sources)
    with (folder / "a").open() as opened:
        sources.put(named(ConfigMap, "settings", data={"a": "changed", "c": "new"}))
        assert await one(tmp_path, volume, sources) == folder
        assert opened.read() == "1"
    assert texts(folder) == {"a": "changed", "c": "new"}
    assert len(os.listdir(folder)) == 4  # two links, ..data, and one version


async def test_what_did_not_change_is_not_written(tmp_path: Path) -> None:
    sources, volume = Cupboard(SETTINGS), {"configMap": {"name": "settings"}}
    folder = await one(tmp_path, volume, sources)
    before = {entry: os.lstat(folder / entry).st_ino for entry in os.listdir(folder)}
    await one(tmp_path, volume, sources)
    assert {entry: os.lstat(folder / entry).st_ino for entry in os.listdir(folder)} == before


@pytest.mark.parametrize("crash", ["..making/a", "..new", "gone"])
def test_what_a_crash_left_is_made_whole(tmp_path: Path, crash: str) -> None:
    layout.write(tmp_path, {"a": File(b"1"), "gone": File(b"x")}, True)
    left = tmp_path / crash
    if crash != "gone":
        left.parent.mkdir(exist_ok=True)
        left.write_text("half")
    assert layout.write(tmp_path, {"a": File(b"2")}, True)
    assert layout.read(tmp_path) == {"a": b"2"} and not left.exists()


def test_a_crash_before_the_links_is_made_up_for(tmp_path: Path) -> None:
    layout.write(tmp_path, {"a": File(b"1")}, True)
    (tmp_path / "a").unlink()
    assert not layout.write(tmp_path, {"a": File(b"1")}, True)
    assert (tmp_path / "a").read_bytes() == b"1"


@pytest.mark.parametrize(
    "said, closed, found",
    [
        ({}, False, 0o644),
        ({"defaultMode": 0o400}, False, 0o400),
        ({"items": [{"key": "token", "path": "token", "mode": 0o640}]}, False, 0o640),
        ({}, True, 0o600),
        ({"defaultMode": 0o440}, True, 0o400),
    ],
)
async def test_the_modes_of_files(tmp_path: Path, said: dict[str, Any], closed: bool, found: int) -> None:
    volume = {"secret": {"secretName": "keys", **said}}
    folder = await one(tmp_path, volume, Cupboard(KEYS), closed=closed)
    assert mode(folder / "token") == found
    assert mode(folder) == (0o700 if closed else 0o755)
    # Whatever the modes inside, other users of the machine do not get this far.
    assert mode(folder.parent) == 0o700


async def test_secrets_lie_in_memory_where_there_is_some(tmp_path: Path) -> None:
    memory = tmp_path / "memory" / "uid-p"
    for volume in ({"secret": {"secretName": "keys"}}, TOKEN, {"emptyDir": {"medium": "Memory"}}):
        assert await one(tmp_path, volume, Cupboard(KEYS), memory=memory, closed=True) == memory / "v"
    assert mode(memory) == mode(memory.parent) == 0o700
    on_disk = await one(tmp_path, {"configMap": {"name": "settings"}}, Cupboard(SETTINGS), memory=memory)
    assert on_disk == tmp_path / "pod" / "volumes" / "v"


FIELDS = [
    ({"fieldRef": {"fieldPath": "metadata.name"}}, "p"),
    ({"fieldRef": {"fieldPath": "metadata.labels"}}, 'a="1"\nb="say \\"x\\""'),
    ({"fieldRef": {"fieldPath": "metadata.labels['a']"}}, "1"),
    ({"fieldRef": {"fieldPath": "metadata.annotations"}}, ""),
    ({"resourceFieldRef": {"containerName": "c", "resource": "limits.memory", "divisor": "1Mi"}}, "64"),
    ({"resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"}}, "2"),
]


@pytest.mark.parametrize("source, text", FIELDS, ids=[str(i) for i in range(len(FIELDS))])
async def test_fields_of_the_pod_are_files(tmp_path: Path, source: dict[str, Any], text: str) -> None:
    volume = {"name": "v", "downwardAPI": {"items": [{"path": "x/y", **source}]}}
    limited = {"name": "c", "resources": {"limits": {"memory": "64Mi"}}}
    pod = a_pod(volume, labels={"b": 'say "x"', "a": "1"}, containers=[limited])
    found = await prepare(pod, a_place(tmp_path, machine={"cpu": "2"}), Cupboard())
    assert (found["v"] / "x/y").read_text() == text


async def test_several_sources_share_one_folder(tmp_path: Path) -> None:
    sources = [
        {"configMap": {"name": "settings", "items": [{"key": "a", "path": "from/map"}]}},
        {"secret": {"name": "keys"}},
        {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"serviceAccountToken": {"path": "mine", "audience": "bank", "expirationSeconds": 600}},
    ]
    cupboard = Cupboard(SETTINGS, KEYS)
    folder = await one(tmp_path, {"projected": {"sources": sources, "defaultMode": 0o440}}, cupboard)
    found = texts(folder)
    assert found.pop("mine") == a_token(1000.0, 1600.0).decode()
    assert found == {"from/map": "1", "token": "s3cret", "name": "p"}
    assert {mode(folder / name) for name in found} == {0o440}
    assert cupboard.asked == [("bank", 600)]


@pytest.mark.parametrize(
    "volume, complaint",
    [
        ({"projected": {"sources": [{"clusterTrustBundle": {"path": "x"}}]}}, "clusterTrustBundle are not"),
        ({"configMap": {"name": "settings", "items": [{"key": "a", "path": "..data"}]}}, "leads out"),
        ({"configMap": {"name": "settings", "items": [{"key": "a", "path": "/etc/x"}]}}, "leads out"),
        ({"secret": {"secretName": "keys", "items": [{"key": "z", "path": "z"}]}}, "non-existent secret key"),
        ({"downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "spec.x"}}]}}, "not known"),
    ],
)  # fmt: skip
async def test_what_cannot_be_filled_says_why(tmp_path: Path, volume: dict[str, Any], complaint: str) -> None:
    with pytest.raises(VolumeMissing, match=complaint):
        await one(tmp_path, volume, Cupboard(SETTINGS, KEYS))


DAY = 24 * 3600


@pytest.mark.parametrize(
    "token, now, due",
    [
        (a_token(0, 1000), 799, False),
        (a_token(0, 1000), 800, True),
        (a_token(0, 100 * DAY), DAY - 1, False),
        (a_token(0, 100 * DAY), DAY, True),
        (a_token(1000, 2000), 0, True),
        (b"no token", 1e12, False),
        (b"a.!!.c", 1e12, False),
    ],
    ids=["young", "four-fifths", "less-than-a-day", "a-day", "from-the-future", "text", "garbage"],
)
def test_when_a_token_is_replaced(token: bytes, now: float, due: bool) -> None:
    assert tokens.due(token, now) == due


async def test_a_token_is_asked_for_once_and_again_before_its_end(tmp_path: Path) -> None:
    sources, life = Cupboard(), 600
    pod = a_pod({"name": "v", **TOKEN})
    first = (await prepare(pod, a_place(tmp_path, 1000), sources))["v"] / "t"
    before = first.read_bytes()
    await prepare(pod, a_place(tmp_path, 1100), sources)
    assert first.read_bytes() == before and len(sources.asked) == 1
    sources.now = 1000 + life
    await prepare(pod, a_place(tmp_path, sources.now), sources)
    assert first.read_bytes() != before and len(sources.asked) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_volumes_belong_to_the_group_of_the_pod(tmp_path: Path) -> None:
    pod = a_pod(
        {"name": "e", "emptyDir": {}},
        {"name": "s", "secret": {"secretName": "keys", "defaultMode": 0o400}},
        securityContext={"fsGroup": 4321},
    )
    found = await prepare(pod, a_place(tmp_path, closed=False), Cupboard(KEYS))
    assert found["e"].stat().st_gid == 4321 and found["e"].stat().st_mode & stat.S_ISGID
    token = (found["s"] / "token").stat()
    assert (token.st_gid, stat.S_IMODE(token.st_mode)) == (4321, 0o440)
