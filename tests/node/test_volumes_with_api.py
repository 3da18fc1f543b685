"""Volumes all the way through: the API, its controllers and a node, with claims, changes and tokens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.node.test_node_with_api import Cluster
from tests.node.test_node_with_api import cluster as cluster

from paddlecloud.api.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.api.scheduling import StorageClass
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.embedded.workloads import run as workloads

SHOW = 'old=; while :; do new=$(cat "$0"); [ "$new" = "$old" ] || echo "$new"; old=$new; sleep 0.02; done'


@asynccontextmanager
async def controllers(cluster: Cluster) -> AsyncIterator[None]:
    access = from_kubeconfig(cluster.home.run / "controllers.kubeconfig")
    task = asyncio.create_task(workloads.run(cluster.home, access, workloads.WORKLOADS))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def add_claim(cluster: Cluster, name: str, **spec: Any) -> None:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"metadata": {"name": name, "namespace": "default"}, "spec": asked | spec}
    await cluster.client.create(PersistentVolumeClaim.read(body))


async def claim(cluster: Cluster, name: str, phase: str) -> PersistentVolumeClaim:
    async def reached() -> bool:
        found = await cluster.client.get(PersistentVolumeClaim, "default", name)
        return found.status.get("phase") == phase

    await cluster.until(reached)
    return await cluster.client.get(PersistentVolumeClaim, "default", name)


async def add_user(cluster: Cluster, name: str, text: str, volume: dict[str, Any], **spec: Any) -> None:
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    await cluster.create(name, "sh", "-c", text, volumes=[{"name": "v", **volume}], container=mount, **spec)


async def test_a_claim_gets_a_folder_that_outlives_pods_and_goes_with_it(cluster: Cluster) -> None:
    data = {"persistentVolumeClaim": {"claimName": "data"}}
    async with controllers(cluster), cluster.node():
        await add_claim(cluster, "data")
        bound = await claim(cluster, "data", "Bound")
        assert bound.spec["storageClassName"] == "standard"
        await add_user(cluster, "writer", "echo kept > /v/file", data)
        await cluster.until_phase("writer", "Succeeded")
        await add_user(cluster, "reader", "cat /v/file", data)
        await cluster.until_phase("reader", "Succeeded")
        assert await cluster.client.logs("default", "reader", "main") == "kept\n"
        folder = cluster.home.volumes / bound.spec["volumeName"]
        assert (folder / "file").read_text() == "kept\n"
        await cluster.client.delete(PersistentVolumeClaim, bound.key)
        for name in ("writer", "reader"):
            assert folder.exists()
            await cluster.client.delete(Pod, Key("default", name))

        async def gone() -> bool:
            return not (await cluster.client.list(PersistentVolume)).items

        await cluster.until(gone)
        assert not folder.exists()


async def test_a_claim_grows_where_its_class_lets_it(cluster: Cluster) -> None:
    async with controllers(cluster):
        await add_claim(cluster, "data")
        bound = await claim(cluster, "data", "Bound")
        more = {"spec": {"resources": {"requests": {"storage": "5Gi"}}}}
        await cluster.client.patch(PersistentVolumeClaim, bound.key, more)

        async def grown() -> bool:
            found = await cluster.client.get(PersistentVolumeClaim, "default", "data")
            return bool(found.status["capacity"] == {"storage": "5Gi"})

        await cluster.until(grown)
        volume = await cluster.client.get(PersistentVolume, "", bound.spec["volumeName"])
        assert volume.spec["capacity"] == {"storage": "5Gi"}


@pytest.mark.parametrize("mode", ["Immediate", "WaitForFirstConsumer"])
async def test_a_pod_with_a_claim_of_its_own_is_placed_and_runs(cluster: Cluster, mode: str) -> None:
    kind = StorageClass(
        metadata=Metadata(name="own"), provisioner="paddlecloud.org/local", volume_binding_mode=mode
    )
    template = {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "own",
            "resources": {"requests": {"storage": "1Gi"}},
        }
    }
    async with controllers(cluster), cluster.node():
        await cluster.client.create(kind)
        # No node: it is for the scheduler to choose, and for the claim to follow.
        await add_user(
            cluster, "p", "echo mine > /v/x; cat /v/x", {"ephemeral": {"volumeClaimTemplate": template}},
            nodeName="",
        )  # fmt: skip
        pod = await cluster.until_phase("p", "Succeeded")
        assert await cluster.client.logs("default", "p", "main") == "mine\n"
        await cluster.client.delete(Pod, pod.key)

        async def gone() -> bool:
            return not (await cluster.client.list(PersistentVolume)).items

        await cluster.until(gone)


async def test_a_change_of_a_config_map_reaches_a_running_pod_by_the_watch(cluster: Cluster) -> None:
    settings = ConfigMap(metadata=Metadata(name="settings", namespace="default"), data={"key": "first"})
    async with cluster.node():
        await cluster.client.create(settings)
        mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
        volume = {"name": "v", "configMap": {"name": "settings"}}
        await cluster.create("p", "sh", "-c", SHOW, "/v/key", volumes=[volume], container=mount)

        async def shows(text: str) -> bool:
            pod = await cluster.pod("p")
            return pod.phase == "Running" and await cluster.client.logs("default", "p", "main") == text

        await cluster.until(lambda: shows("first\n"))
        await cluster.client.patch(ConfigMap, settings.key, {"data": {"key": "second"}})
        await cluster.until(lambda: shows("first\nsecond\n"))
        await cluster.client.delete(Pod, Key("default", "p"), grace=0)


async def test_a_projected_token_is_for_its_audience_and_its_time(cluster: Cluster) -> None:
    source = {"serviceAccountToken": {"path": "t", "audience": "bank", "expirationSeconds": 600}}
    read = (
        "import base64, json; p = open('/v/t').read().split('.')[1]; "
        "c = json.loads(base64.urlsafe_b64decode(p + '==')); print(c['aud'], c['exp'] - c['iat'])"
    )
    async with cluster.node():
        mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
        volume = {"name": "v", "projected": {"sources": [source]}}
        await cluster.create("p", "python", "-c", read, volumes=[volume], container=mount)
        await cluster.until_phase("p", "Succeeded")
        assert await cluster.client.logs("default", "p", "main") == "['bank'] 600\n"
