"""The driver of JuiceFS volumes: mounts that are shared, found again, healed and gone with their last pod."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.cache.juicefs_stage import client_or_skip

from paddlecloud.cache.juicefs import filesystem
from paddlecloud.embedded.node.obstacles import VolumeMissing
from paddlecloud.embedded.node.volumes import fuse, juicefsmounts
from paddlecloud.embedded.node.volumes.juicefs import JuicefsPlugin
from paddlecloud.embedded.node.volumes.plugins import Request
from paddlecloud.settings import Home


class Stand:
    """A plugin for a home of its own, and requests of made-up pods."""

    def __init__(self, root: Path, client: Path, no_fuse: str = "") -> None:
        self.home = Home(root / "home")
        self.home.make()
        self._client, self._no_fuse = client, no_fuse
        self.plugin = self.anew()

    def anew(self) -> JuicefsPlugin:
        """As another process of the node would have it."""

        async def program() -> Path:
            return self._client

        return JuicefsPlugin(self.home, program, self._no_fuse)

    def request(self, pod: str, node: str = "n1", **fields: Any) -> Request:
        folder = self.home.pods(node) / pod
        folder.mkdir(parents=True, exist_ok=True)
        options = fields.pop("options", "cache-dir=/cache/x,cache-size=100,free-space-ratio=0.01")
        said: dict[str, Any] = {"handle": "ns-set", "attributes": {"mountOptions": options}}
        where = {"pod": pod, "namespace": "ns", "target": folder / "volumes" / "v", "node": node}
        return Request(**(said | where | fields))

    async def give(self, request: Request) -> Path:
        await self.plugin.stage(request)
        return await self.plugin.publish(request)


@pytest.fixture(scope="module")
def client() -> Path:
    return client_or_skip().path


@pytest.fixture
async def stand(tmp_path: Path, client: Path) -> AsyncIterator[Stand]:
    made = Stand(tmp_path, client)
    try:
        yield made
    finally:
        juicefsmounts.end_all(made.home)


async def test_nodes_share_the_files_and_have_caches_of_their_own(stand: Stand) -> None:
    one = await stand.give(stand.request("p1", "n1"))
    two = await stand.give(stand.request("p2", "n2"))
    assert one != two
    (one / "f").write_bytes(b"x" * 5000)
    assert (two / "f").read_bytes() == b"x" * 5000
    nodes = stand.home.root / "nodes"
    assert (nodes / "n1/disk/cache/x").is_dir() and (nodes / "n2/disk/cache/x").is_dir()


async def test_a_mount_is_shared_found_again_and_goes_with_the_last_pod(stand: Stand) -> None:
    first, second = stand.request("p1"), stand.request("p2")
    at = await stand.give(first)
    (at / "f").write_text("kept")
    (mount,) = juicefsmounts.every(stand.home)
    serving = mount.processes()
    stand.plugin = stand.anew()
    # While somebody uses it, other options do not take it away.
    assert await stand.give(stand.request("p2", options="writeback")) == at
    assert mount.processes() == serving != []
    await stand.plugin.unpublish("p1", first.target)
    await stand.plugin.unpublish("p1", first.target)
    assert (at / "f").read_text() == "kept"
    await stand.plugin.unpublish("p2", second.target)
    assert not filesystem.mounted(at) and mount.processes() == [] and not mount.folder.exists()
    assert (await stand.give(first) / "f").read_text() == "kept"


async def test_a_mount_is_ended_although_its_client_is_gone(stand: Stand, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root unmounts without the client")
    at = await stand.give(stand.request("p"))
    (mount,) = juicefsmounts.every(stand.home)
    mount.note(tmp_path / "gone", [])
    juicefsmounts.end_all(stand.home)
    assert not filesystem.mounted(at) and mount.processes() == [] and not mount.folder.exists()


async def test_a_pod_whose_folder_is_gone_holds_no_mount(stand: Stand) -> None:
    await stand.give(stand.request("lost"))
    request = stand.request("p")
    at = await stand.give(request)
    (stand.home.pods("n1") / "lost").rmdir()
    await stand.plugin.unpublish("p", request.target)
    assert not filesystem.mounted(at)


async def test_a_mount_whose_processes_were_killed_is_made_anew(stand: Stand) -> None:
    request = stand.request("p")
    at = await stand.give(request)
    (at / "f").write_text("kept")
    (mount,) = juicefsmounts.every(stand.home)
    # The first watches over the others and would start them again.
    for pid in sorted(mount.processes()):
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(OSError, match=r"not connected|abort"):
        await until_refused(at)
    assert (await stand.give(request) / "f").read_text() == "kept"


async def test_other_options_take_effect_when_nobody_else_uses_the_mount(stand: Stand) -> None:
    request = stand.request("p")
    await stand.give(request)
    await stand.give(stand.request("p", options="cache-dir=/other"))
    assert (stand.home.root / "nodes/n1/disk/other").is_dir()


async def until_refused(at: Path) -> None:
    async with asyncio.timeout(10):
        while True:
            os.listdir(at)
            await asyncio.sleep(0.02)


WHOLE = {"name": b"fs1", "storage": b"file", "metaurl": b"sqlite3:///x.db", "bucket": b"/b/"}


@pytest.mark.parametrize(
    "fields, why, step",
    [
        ({"options": "consul=x"}, "'consul' is not known", "cache-dir"),
        ({"options": "cache-dir=../up"}, "not an absolute path", "folder of the node"),
        ({"secrets": {"name": b"x"}}, "lacks storage, metaurl, bucket", "access-key"),
        ({"secrets": WHOLE | {"bucket": b" \n"}}, "lacks bucket", "access-key"),
        ({"secrets": WHOLE | {"metaurl": b"etcd://u:hidden@h/x"}}, "every user of the machine", "redis"),
        ({"secrets": WHOLE | {"name": b"\xff"}}, "not text", ""),
    ],
)
async def test_what_cannot_be_mounted_is_told_in_words(
    stand: Stand, fields: dict[str, Any], why: str, step: str
) -> None:
    with pytest.raises(VolumeMissing, match=why) as caught:
        await stand.plugin.stage(stand.request("p", **fields))
    assert "hidden" not in str(caught.value) and step in caught.value.next_step
    assert str(caught.value).startswith('MountVolume.SetUp failed for volume "ns-set" : ')


async def test_without_fuse_the_way_out_is_named(tmp_path: Path) -> None:
    stand = Stand(tmp_path, tmp_path / "none", no_fuse="/dev/fuse cannot be opened: Operation not permitted")
    with pytest.raises(VolumeMissing, match="needs FUSE, and /dev/fuse cannot be opened") as caught:
        await stand.plugin.stage(stand.request("p"))
    assert "csi.driver: local" in caught.value.next_step


def test_what_speaks_against_fuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "fuse"
    assert fuse.why_not(tmp_path, 0, str(device)) == f"{device} cannot be opened: No such file or directory"
    device.touch()
    assert "a mount of FUSE was refused" in fuse.why_not(tmp_path, 0, str(device))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "fusermount3 is missing: install fuse3" in fuse.why_not(tmp_path, 1000, str(device))
    (tmp_path / "fusermount3").touch(mode=0o755)
    assert fuse.why_not(tmp_path, 1000, str(device)) == ""
