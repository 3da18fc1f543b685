"""Where volumes lie: paths of the machine, paths inside volumes, memory, persistent volumes, drivers."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.node.volume_shelf import Cupboard, a_place, a_pod, named

from paddlecloud.api.core import PersistentVolume, PersistentVolumeClaim, Secret
from paddlecloud.api.meta import OwnerReference
from paddlecloud.embedded.node.obstacles import ConfigMissing, VolumeMissing
from paddlecloud.embedded.node.volumes import emptydir, lacks, memory, prepare
from paddlecloud.embedded.node.volumes.hostpath import checked, on_disk
from paddlecloud.embedded.node.volumes.plugins import Request, published, take_back
from paddlecloud.embedded.node.volumes.subpaths import below


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with one of everything that needs no right to be made."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "broken").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(tmp_path, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    return tmp_path


@pytest.mark.parametrize(
    "name, kind",
    [
        ("folder", "Directory"),
        ("link", "Directory"),
        ("folder", "DirectoryOrCreate"),
        ("new/below", "DirectoryOrCreate"),
        ("file", "File"),
        ("new", "FileOrCreate"),
        ("socket", "Socket"),
        ("/dev/null", "CharDevice"),
        ("file", ""),
        ("new", ""),
    ],
)
def test_a_path_of_the_type_it_is_said_to_have(there: Path, name: str, kind: str) -> None:
    path = checked("v", str(there / name), kind)
    assert path == there / name and path.exists()


@pytest.mark.parametrize(
    "name, kind, what",
    [
        ("file", "Directory", "a directory"),
        ("absent", "Directory", "a directory"),
        ("broken", "Directory", "a directory"),
        ("file", "DirectoryOrCreate", "a directory"),
        ("folder", "File", "a file"),
        ("folder", "FileOrCreate", "a file"),
        ("file", "Socket", "a socket file"),
        ("/dev/null", "BlockDevice", "a block device"),
        ("file", "CharDevice", "a character device"),
    ],
)
def test_a_path_of_another_type_is_named(there: Path, name: str, kind: str, what: str) -> None:
    start = 'MountVolume.SetUp failed for volume "v" : hostPath type check failed: '
    with pytest.raises(VolumeMissing) as caught:
        checked("v", str(there / name), kind)
    assert caught.value.message == f"{start}{there / name} is not {what}"


@pytest.mark.parametrize("sub", ["folder", "link", "new/below", "folder/ünïcode"])
def test_a_path_inside_a_volume(there: Path, sub: str) -> None:
    assert below(there, sub) == there / sub and (there / sub).exists()


@pytest.mark.parametrize("sub", ["/etc", "../x", "a/../../x", "out", "out/new", "outer/x"])
def test_a_path_that_leads_out_of_its_volume_is_refused_and_nothing_is_made(there: Path, sub: str) -> None:
    volume = there / "folder"
    (volume / "out").symlink_to(there)
    (volume / "outer").symlink_to("out")
    before = sorted(there.iterdir())
    with pytest.raises(ConfigMissing, match=r"absolute path|must not contain|leads out"):
        below(volume, sub)
    if not sub.startswith("/") and ".." not in sub:
        below(volume, sub, resolve=False)
    assert sorted(there.iterdir()) == before


def test_memory_is_used_only_where_it_is_ours(tmp_path: Path) -> None:
    assert memory.root_of(tmp_path, tmp_path) is None  # not memory
    if not memory.in_memory(memory.SHARED):
        pytest.skip("this machine has no /dev/shm in memory")
    home = tmp_path / "home"
    try:
        root = memory.root_of(home)
        assert root is not None and stat.S_IMODE(root.stat().st_mode) == 0o700
        (root / "old").mkdir()
        (root / "alive").mkdir()
        memory.keep(root, {"alive"})
        assert [p.name for p in root.iterdir()] == ["alive"]
        root.chmod(0o755)
        assert memory.root_of(home) is None  # somebody could have looked
        root.chmod(0o700)
        memory.clear(home)
        assert not root.exists()
        root.symlink_to(tmp_path)
        assert memory.root_of(home) is None  # somebody's link
    finally:
        memory.path_of(home, memory.SHARED).unlink(missing_ok=True)


class Driver:
    """A driver that makes a folder and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.request: Request | None = None

    async def stage(self, request: Request) -> None:
        self.calls.append(f"stage {request.handle}")

    async def publish(self, request: Request) -> Path:
        self.calls.append(f"publish {request.handle}")
        self.request = request
        request.target.mkdir(exist_ok=True)
        return request.target

    async def unpublish(self, pod: str, target: Path) -> None:
        self.calls.append(f"unpublish {pod} {target.name}")


async def test_a_driver_stages_publishes_and_takes_back(tmp_path: Path) -> None:
    driver, place = Driver(), a_place(tmp_path)
    csi: dict[str, Any] = {
        "driver": "d.example", "volumeHandle": "h", "volumeAttributes": {"a": "b"},
        "nodePublishSecretRef": {"name": "keys", "namespace": "d"},
    }  # fmt: skip
    sources = Cupboard(
        named(PersistentVolumeClaim, "c", spec={"volumeName": "pv"}, status={"phase": "Bound"}),
        named(PersistentVolume, "pv", spec={"csi": csi}),
        named(Secret, "keys", data={"k": "djE="}),
    )
    pod = a_pod({"name": "v", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}})
    found = await prepare(pod, a_place(tmp_path, plugins={"d.example": driver}), sources)
    assert found["v"] == place.folder / "v"
    assert driver.request == Request(
        "h", {"a": "b"}, "uid-p", "d", place.folder / "v", read_only=True, secrets={"k": b"v1"}
    )
    assert "v1" not in repr(driver.request)
    await take_back(place.folder.parent, pod.uid, {"d.example": driver})
    assert driver.calls == ["stage h", "publish h", "unpublish uid-p v"]
    assert published(place.folder.parent) == [["d.example", str(place.folder / "v")]]


async def test_a_claim_of_a_pods_own_must_be_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "persistent" / "pv"
    volume = named(PersistentVolume, "pv", spec={"hostPath": {"path": str(folder)}})
    claim = named(PersistentVolumeClaim, "p-v", spec={"volumeName": "pv"}, status={"phase": "Bound"})
    pod = a_pod({"name": "v", "ephemeral": {"volumeClaimTemplate": {}}})
    with pytest.raises(VolumeMissing, match="was not created for pod d/p"):
        await prepare(pod, a_place(tmp_path), Cupboard(volume, claim))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    own = claim.but(metadata=claim.metadata.but(owner_references=[OwnerReference.model_validate(owner)]))
    assert await prepare(pod, a_place(tmp_path), Cupboard(volume, own)) == {"v": folder}


async def test_a_full_disk_is_an_obstacle_with_a_way_out(tmp_path: Path) -> None:
    class Full(Cupboard):
        async def find(self, kind: Any, namespace: str, name: str) -> Any:
            raise OSError(28, "No space left on device", str(tmp_path))

    with pytest.raises(VolumeMissing, match=r"No space left on device\n.*goes on by itself"):
        await prepare(a_pod({"name": "v", "configMap": {"name": "x"}}), a_place(tmp_path), Full())


MEMORY = {"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}


@pytest.mark.parametrize(
    "limits, size, expected",
    [
        ([None], None, 0),
        ([None], "1Mi", 1 << 20),
        (["2Mi"], None, 2 << 20),
        (["2Mi", "1Mi"], "8Mi", 3 << 20),
        (["2Mi", None], "8Mi", 8 << 20),
    ],
)
def test_how_large_a_volume_in_memory_is(limits: list[str | None], size: str | None, expected: int) -> None:
    volume = {"name": "v", "emptyDir": {"medium": "Memory"} | ({"sizeLimit": size} if size else {})}
    containers = [
        {"name": f"c{n}", "resources": {"limits": {"memory": limit} if limit else {}}}
        for n, limit in enumerate(limits)
    ]
    pod = a_pod(volume)
    pod = pod.but(spec={**pod.spec, "containers": containers})
    assert emptydir.size_of(pod, volume) == expected


@pytest.mark.parametrize(
    "mount, volume, place, words",
    [
        ({}, {"emptyDir": {}}, {}, []),
        ({"mountPropagation": "None"}, {"emptyDir": {}}, {}, []),
        ({"mountPropagation": "Bidirectional"}, {"emptyDir": {}}, {}, ["mountPropagation at /v"]),
        ({"readOnly": True}, {"emptyDir": {}}, {"closed": True}, ["readOnly at /v"]),
        ({"readOnly": True}, {"emptyDir": {}}, {"closed": False}, []),
        ({"readOnly": True}, {"configMap": {"name": "x"}}, {"closed": True}, []),
        ({}, {"emptyDir": {"medium": "Memory"}}, {}, ["memory at /v"]),
        ({}, {"emptyDir": {"medium": "Memory"}}, {"memory": Path("/memory")}, []),
        ({}, {"emptyDir": {"medium": "Memory"}}, {"closed": False}, []),
        ({}, MEMORY, {"memory": Path("/memory")}, ["sizeLimit at /v"]),
        ({}, MEMORY, {"closed": False}, []),
    ],
)
def test_what_a_node_cannot_do_for_a_mount_is_said(
    tmp_path: Path, mount: dict[str, Any], volume: dict[str, Any], place: dict[str, Any], words: list[str]
) -> None:
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]}
    found = lacks(a_pod({"name": "v", **volume}), container, a_place(tmp_path, **place))
    assert [sentence.partition(":")[0] for sentence in found] == words


@pytest.mark.parametrize(
    "path, disk, meant",
    [
        ("/var/lib/paddlecloud/samplesets/ml/digits", "/home/n/disk", "/home/n/disk/samplesets/ml/digits"),
        ("/var/lib/paddlecloud/../x", "/home/n/disk", "/home/n/disk/../x"),
        ("/var/lib/paddlecloud", "/home/n/disk", "/var/lib/paddlecloud"),
        ("/var/lib/paddlecloudy/x", "/home/n/disk", "/var/lib/paddlecloudy/x"),
        ("/data", "/home/n/disk", "/data"),
        ("/var/lib/paddlecloud/x", None, "/var/lib/paddlecloud/x"),
    ],
)
def test_every_node_has_a_disk_of_its_own_below_one_folder(path: str, disk: str | None, meant: str) -> None:
    assert on_disk(path, Path(disk) if disk else None) == meant


async def test_two_nodes_see_two_folders_under_one_host_path(tmp_path: Path) -> None:
    path = "/var/lib/paddlecloud/samplesets/d/digits"
    local = {"path": path, "type": "DirectoryOrCreate"}
    claim = named(PersistentVolumeClaim, "c", spec={"volumeName": "pv"}, status={"phase": "Bound"})
    sources = Cupboard(claim, named(PersistentVolume, "pv", spec={"hostPath": local}))
    pod = a_pod(
        {"name": "inline", "hostPath": local},
        {"name": "claimed", "persistentVolumeClaim": {"claimName": "c"}},
    )
    for node in ("a", "b"):
        found = await prepare(pod, a_place(tmp_path / node, disk=tmp_path / node / "disk"), sources)

        assert set(found.values()) == {tmp_path / node / "disk/samplesets/d/digits"}


async def test_nothing_leads_out_of_the_disk_of_a_node(tmp_path: Path) -> None:
    pod = a_pod({"name": "v", "hostPath": {"path": "/var/lib/paddlecloud/../../x"}})

    with pytest.raises(VolumeMissing, match=r"without `\.\.`"):
        await prepare(pod, a_place(tmp_path, disk=tmp_path / "disk"), Cupboard())
