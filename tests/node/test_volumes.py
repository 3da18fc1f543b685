from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, TypeVar

import pytest

from paddlecloud.api.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret
from paddlecloud.api.meta import Resource
from paddlecloud.embedded.node.obstacles import Obstacle, VolumeMissing
from paddlecloud.embedded.node.volumes import ACCESS_PATH, Place, mounts, prepare
from paddlecloud.embedded.server.podaccess import give_access

R = TypeVar("R", bound=Resource)


class Shelf:
    """Objects by kind and name."""

    def __init__(self, *objects: Resource) -> None:
        self.objects = {(type(o), o.name): o for o in objects}

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None:
        found = self.objects.get((kind, name))
        return found if isinstance(found, kind) else None

    async def token(self, pod: Pod, audience: str, seconds: int) -> bytes:
        return f"{audience} {seconds}".encode()


def named(kind: type[R], name: str, **fields: Any) -> R:
    return kind.read({"metadata": {"name": name, "namespace": "d"}, **fields})


def a_pod(*volumes: dict[str, Any], **spec: Any) -> Pod:
    body = {"containers": [], "volumes": list(volumes), "automountServiceAccountToken": False} | spec
    return named(Pod, "p", spec=body)


async def made(tmp_path: Path, volume: dict[str, Any], *objects: Resource) -> Path:
    place = Place(tmp_path / "volumes", tmp_path / "persistent")
    return (await prepare(a_pod({"name": "v"} | volume), place, Shelf(*objects)))["v"]


def files(folder: Path) -> dict[str, str]:
    """What a program finds that does not look at names with two dots."""
    found = [
        Path(place, name).relative_to(folder)
        for place, _, names in os.walk(folder, followlinks=True)
        for name in names
    ]
    return {str(p): (folder / p).read_text() for p in found if not str(p).startswith("..")}


SETTINGS = named(ConfigMap, "settings", data={"a": "1", "b": "2"})
KEYS = named(Secret, "keys", data={"token": base64.b64encode(b"s3cret").decode()})


@pytest.mark.parametrize(
    "volume, content",
    [
        ({"emptyDir": {}}, {}),
        ({"configMap": {"name": "settings"}}, {"a": "1", "b": "2"}),
        ({"configMap": {"name": "settings", "items": [{"key": "a", "path": "x/y"}]}}, {"x/y": "1"}),
        ({"configMap": {"name": "absent", "optional": True}}, {}),
        (
            {"configMap": {"name": "settings", "items": [{"key": "z", "path": "z"}], "optional": True}},
            {},
        ),
        ({"secret": {"secretName": "keys"}}, {"token": "s3cret"}),
    ],
)
async def test_a_volume_holds_what_it_should(
    tmp_path: Path, volume: dict[str, Any], content: dict[str, str]
) -> None:
    assert files(await made(tmp_path, volume, SETTINGS, KEYS)) == content


@pytest.mark.parametrize(
    "volume, complaint",
    [
        ({"configMap": {"name": "absent"}}, 'configmap "absent" not found'),
        ({"secret": {"secretName": "absent"}}, 'secret "absent" not found'),
        (
            {"configMap": {"name": "settings", "items": [{"key": "z", "path": "z"}]}},
            r"references non-existent config key: z\n.*has: a, b",
        ),
        ({"configMap": {"name": "settings", "items": [{"key": "a", "path": "../z"}]}}, "leads out"),
        ({"hostPath": {"path": "relative"}}, "not an absolute path"),
        ({"hostPath": {"path": "/tmp/../etc"}}, "not an absolute path"),
        ({"hostPath": {"path": "/no/such", "type": "Directory"}}, "/no/such is not a directory"),
        ({"hostPath": {"path": "/proc", "type": "File"}}, "/proc is not a file"),
        ({"hostPath": {"path": "/proc/x", "type": "DirectoryOrCreate"}}, "cannot make /proc/x"),
        ({"hostPath": {"path": "/", "type": "Strange"}}, "type Strange is not known"),
        ({"persistentVolumeClaim": {"claimName": "absent"}}, '"absent" not found'),
        ({"persistentVolumeClaim": {"claimName": "waiting"}}, r"d/waiting has non-bound phase \('Pending'\)"),
        ({"nfs": {"server": "x", "path": "/y"}}, "x:/y is not mounted"),
        ({"csi": {"driver": "d.example"}}, "driver name d.example not found"),
        ({"iscsi": {}}, "a kind nodes here do not have: iscsi"),
    ],
)
async def test_a_volume_that_lacks_something_says_what(
    tmp_path: Path, volume: dict[str, Any], complaint: str
) -> None:
    claim = named(PersistentVolumeClaim, "waiting", spec={}, status={"phase": "Pending"})
    with pytest.raises(VolumeMissing, match=complaint):
        await made(tmp_path, volume, SETTINGS, claim)


async def test_secrets_are_closed_to_others(tmp_path: Path) -> None:
    folder = await made(tmp_path, {"secret": {"secretName": "keys", "defaultMode": 0o644}}, KEYS)
    assert (folder / "token").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_a_pod_that_waited_goes_on_when_the_object_appears(tmp_path: Path) -> None:
    with pytest.raises(VolumeMissing):
        await made(tmp_path, {"configMap": {"name": "settings"}})
    assert files(await made(tmp_path, {"configMap": {"name": "settings"}}, SETTINGS)) == {"a": "1", "b": "2"}


async def test_what_a_crash_left_half_made_is_made_anew(tmp_path: Path) -> None:
    half = tmp_path / "volumes" / "v" / "..making"
    half.mkdir(parents=True)
    (half / "a").write_text("half")
    assert files(await made(tmp_path, {"configMap": {"name": "settings"}}, SETTINGS)) == {"a": "1", "b": "2"}


async def test_an_emptydir_keeps_its_files_when_the_node_starts_again(tmp_path: Path) -> None:
    (await made(tmp_path, {"emptyDir": {}}) / "kept").write_text("yes")
    assert files(await made(tmp_path, {"emptyDir": {}})) == {"kept": "yes"}


@pytest.mark.parametrize("source", ["hostPath", "local"])
async def test_a_bound_claim_leads_to_the_folder_of_its_volume(tmp_path: Path, source: str) -> None:
    folder = tmp_path / "persistent" / "pv-1"
    claim = named(PersistentVolumeClaim, "c", spec={"volumeName": "pv-1"}, status={"phase": "Bound"})
    volume = named(PersistentVolume, "pv-1", spec={source: {"path": str(folder)}})
    got = await made(tmp_path, {"persistentVolumeClaim": {"claimName": "c"}}, claim, volume)
    assert got == folder and folder.is_dir()


async def test_a_persistent_folder_outside_the_home_is_not_made_up(tmp_path: Path) -> None:
    claim = named(PersistentVolumeClaim, "c", spec={"volumeName": "pv-1"}, status={"phase": "Bound"})
    volume = named(PersistentVolume, "pv-1", spec={"local": {"path": str(tmp_path / "elsewhere")}})
    with pytest.raises(VolumeMissing, match="is not a directory"):
        await made(tmp_path, {"persistentVolumeClaim": {"claimName": "c"}}, claim, volume)


async def test_a_pod_gets_the_files_that_lead_to_the_api_as_its_spec_says(tmp_path: Path) -> None:
    spec: dict[str, Any] = {"containers": [{"name": "c"}]}
    give_access(spec, "abcde")
    pod, name = named(Pod, "p", spec=spec), "kube-api-access-abcde"
    authority = named(ConfigMap, "kube-root-ca.crt", data={"ca.crt": "c"})
    found = await prepare(pod, Place(tmp_path / "volumes", tmp_path), Shelf(authority))
    assert files(found[name]) == {"token": " 3607", "ca.crt": "c", "namespace": "d"}
    assert mounts(spec["containers"][0], found) == {ACCESS_PATH: found[name]}


def test_mounts_lead_to_volumes_and_below_them(tmp_path: Path) -> None:
    container = {
        "name": "c",
        "volumeMounts": [
            {"name": "v", "mountPath": "/mnt/data/"},
            {"name": "v", "mountPath": "/mnt/sub", "subPath": "a/b"},
        ],
    }
    assert mounts(container, {"v": tmp_path}) == {"/mnt/data": tmp_path, "/mnt/sub": tmp_path / "a/b"}
    assert (tmp_path / "a/b").is_dir()


@pytest.mark.parametrize(
    "wrong, complaint",
    [
        ([{"name": "w", "mountPath": "/x"}], "volume w, which the pod does not have"),
        ([{"name": "v", "mountPath": "/x/.."}], "hide the whole file system"),
        ([{"name": "v", "mountPath": "/x", "subPath": "../y"}], r"must not contain '\.\.'"),
        ([{"name": "v", "mountPath": "/x", "subPath": "/y"}], "must not be an absolute path"),
        ([{"name": "v", "mountPath": "/x"}, {"name": "v", "mountPath": "/x/"}], "two volumes at /x"),
    ],
)
def test_a_mount_that_makes_no_sense_is_refused(tmp_path: Path, wrong: list[Any], complaint: str) -> None:
    with pytest.raises(Obstacle, match=complaint):
        mounts({"name": "c", "volumeMounts": wrong}, {"v": tmp_path})
