"""JuiceFS volumes all the way through: claims, pods that read and write, a node that is away, secrets."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cache.juicefs_stage import client_or_skip
from tests.kubernetes.waiting import until
from tests.node.test_node_with_api import Cluster
from tests.node.test_node_with_api import cluster as cluster
from tests.suites.environments import ROOT

from paddlecloud.api.core import Event, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret
from paddlecloud.api.meta import Key
from paddlecloud.cache.juicefs import filesystem
from paddlecloud.embedded.node import procfs
from paddlecloud.embedded.node.volumes import juicefsmounts

USER, PASSWORD = "tried-user", "tried-secret-word"
COUNTS = """
from pathlib import Path
from paddlecloud.cache.juicefs.client import installed
from paddlecloud.cache.juicefs.engine import JuicefsEngine
class Run:
    def check(self): pass
    def report(self, amount): pass
engine = JuicefsEngine(installed(), Path("/v"), Path("/tmp/state"))
engine.clear([], Run())
cold = engine.holding()
engine.warm(["first"], 2, Run())
print(cold.total_files, cold.total_bytes, cold.cached_bytes, engine.holding().cached_bytes)
"""
WAITS = "echo first > /v/first; while [ ! -e /v/go ]; do sleep 0.05; done; cat /v/go"


@pytest.fixture(scope="module")
def program() -> Path:
    return client_or_skip().path


@pytest.fixture(autouse=True)
def environments(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLECLOUD_ENVIRONMENTS", str(ROOT))


@pytest.fixture
def store(program: Path, tmp_path: Path) -> Iterator[str]:
    """An object store that asks for keys: the address of a bucket in it."""
    meta = f"sqlite3://{tmp_path}/gateway.db"
    make = [str(program), "format", "--storage=file", f"--bucket={tmp_path}/objects/", meta, "gateway"]
    subprocess.run(make, check=True, capture_output=True, timeout=30)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    serve = [
        str(program), "gateway", "--no-banner", "--multi-buckets", "--metrics=127.0.0.1:0",
        "--no-usage-report", f"--cache-dir={tmp_path}/gateway-cache", meta, address,
    ]  # fmt: skip
    keys = {"MINIO_ROOT_USER": USER, "MINIO_ROOT_PASSWORD": PASSWORD}
    with (tmp_path / "gateway.log").open("wb") as log:
        server = subprocess.Popen(serve, env=os.environ | keys, stdout=log, stderr=log)
    try:
        until(lambda: listens(address), what="the object store listens", limit=30)
        yield f"http://{address}/objs"
    finally:
        server.kill()
        server.wait()


def listens(address: str) -> bool:
    host, _, port = address.partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


async def add_volume(cluster: Cluster, **csi: Any) -> dict[str, Any]:
    """A volume and the claim bound to it, as a set has them; the volume as pods name it."""
    said = {
        "driver": "csi.juicefs.com", "fsType": "juicefs", "volumeHandle": "default-set",
        "volumeAttributes": {"mountOptions": "cache-dir=/dev/shm/set,free-space-ratio=0.01"}, **csi,
    }  # fmt: skip
    both = {"accessModes": ["ReadWriteMany"], "storageClassName": "paddle-operator"}
    amount = {"storage": "10Pi"}
    spec = {**both, "capacity": amount, "csi": said, "persistentVolumeReclaimPolicy": "Retain"}
    await cluster.client.create(PersistentVolume.read({"metadata": {"name": "default-set"}, "spec": spec}))
    claim = {**both, "volumeName": "default-set", "resources": {"requests": amount}}
    named = {"name": "set", "namespace": "default"}
    await cluster.client.create(PersistentVolumeClaim.read({"metadata": named, "spec": claim}))
    return {"persistentVolumeClaim": {"claimName": "set"}}


async def add_user(
    cluster: Cluster, name: str, text: str, volume: dict[str, Any], image: str = "tried"
) -> None:
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}], "image": image}
    await cluster.create(name, "sh", "-c", text, volumes=[{"name": "v", **volume}], container=mount)


async def test_pods_share_a_volume_that_outlives_the_node_and_goes_with_the_last(cluster: Cluster) -> None:
    async with cluster.controllers():
        async with cluster.node():
            volume = await add_volume(cluster)
            await add_user(cluster, "waits", WAITS, volume)
            await cluster.until_phase("waits", "Running")
            (mount,) = juicefsmounts.every(cluster.home)

            async def written() -> bool:
                return (mount.at / "first").exists()

            await cluster.until(written)
            serving = mount.processes()
            node = await cluster.client.get(Node, "", cluster.chosen.node_names[0])
            assert node.metadata.labels["paddlecloud.org/fuse"] == "true"
        async with cluster.node():
            await add_user(cluster, "counts", f"python -c '{COUNTS}'", volume, image="paddlecloud/data")
            await cluster.until_phase("counts", "Succeeded")
            assert await cluster.client.logs("default", "counts", "main") == "1 6 0 6\n"
            assert mount.processes() == serving != []
            (mount.at / "new").write_text("went on\n")
            (mount.at / "new").rename(mount.at / "go")
            await cluster.until_phase("waits", "Succeeded")
            assert await cluster.client.logs("default", "waits", "main") == "went on\n"
            for name in ("waits", "counts"):
                await cluster.client.delete(Pod, Key("default", name))
                await cluster.until_gone(name)

            async def unmounted() -> bool:
                return not list(juicefsmounts.every(cluster.home))

            await cluster.until(unmounted)
            assert mount.processes() == []


async def test_a_container_that_dies_with_its_mount_comes_back_with_another(cluster: Cluster) -> None:
    async with cluster.controllers(), cluster.node():
        volume = await add_volume(cluster)
        reads = "[ -e /v/first ] || echo there > /v/first; while cat /v/first; do sleep 0.1; done; exit 1"
        mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}], "image": "tried"}
        volumes = [{"name": "v", **volume}]
        await cluster.create(
            "reads", "sh", "-c", reads, volumes=volumes, container=mount, restartPolicy="Always"
        )
        await cluster.until_phase("reads", "Running")
        (mounted,) = juicefsmounts.every(cluster.home)
        first = mounted.processes()
        for pid in first:
            os.kill(pid, signal.SIGKILL)

        async def again() -> bool:
            pod = await cluster.client.get(Pod, "default", "reads")
            [status] = pod.status.get("containerStatuses") or [{}]
            return bool(status.get("restartCount")) and filesystem.alive(mounted.at)

        await cluster.until(again)
        assert (mounted.at / "first").read_text() == "there\n"
        assert mounted.processes() and not set(mounted.processes()) & set(first)


async def test_the_keys_of_a_file_system_are_seen_nowhere(cluster: Cluster, store: str) -> None:
    async with cluster.controllers(), cluster.node():
        volume = await add_volume(cluster, nodePublishSecretRef={"name": "set", "namespace": "default"})
        await add_user(cluster, "p", "echo kept > /v/f; cat /v/f; " + WAITS, volume)

        async def told() -> bool:
            return any('secret "set" not found' in e.message for e in await events(cluster))

        await cluster.until(told)
        # Values end with line breaks where somebody used `echo | base64`.
        data = {
            "name": "tried-fs\n", "storage": "minio", "bucket": store, "access-key": USER + "\n",
            "metaurl": f"sqlite3://{cluster.home.root}/own.db", "secret-key": PASSWORD + "\n",
        }  # fmt: skip
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        named = {"name": "set", "namespace": "default"}
        await cluster.client.create(Secret.read({"metadata": named, "data": encoded}))
        await cluster.until_phase("p", "Running")
        (mount,) = juicefsmounts.every(cluster.home)

        async def written() -> bool:
            return (mount.at / "first").exists()

        await cluster.until(written)
        lines = [line for pid in procfs.every() for line in command_line(pid)]
        assert str(mount.log).encode() in b"\n".join(lines) and PASSWORD.encode() not in b"\n".join(lines)
        assert PASSWORD not in " ".join(e.message for e in await events(cluster))
        texts = [*cluster.home.root.rglob("*.log"), *mount.folder.glob("*.json"), mount.log]
        assert all(PASSWORD.encode() not in path.read_bytes() for path in texts)


async def events(cluster: Cluster) -> list[Event]:
    return list((await cluster.client.list(Event, "default")).items)


def command_line(pid: int) -> list[bytes]:
    try:
        return [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")]
    except OSError:
        return []
