"""The node process against the embedded API: pods, logs, services and tokens all the way through."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.api.core import ConfigMap, Event, Node, Pod, Service, ServiceAccount
from paddlecloud.api.lease import Lease
from paddlecloud.api.meta import Key
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.embedded import identity
from paddlecloud.embedded.node.closing import stop_all
from paddlecloud.embedded.node.machine import Declared
from paddlecloud.embedded.node.main import NodeOptions, run
from paddlecloud.embedded.server import serve
from paddlecloud.embedded.workloads import run as workloads
from paddlecloud.errors import AlreadyExists, NotFound
from paddlecloud.settings import Home

SERVER = """
import http.server, os
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["POD_NAME"].encode())
http.server.HTTPServer((os.environ["POD_IP"], 8080), Answer).serve_forever()
"""


class Cluster:
    """An API server in this process and a node one can stop and start."""

    def __init__(self, home: Home, chosen: identity.Identity, client: Client) -> None:
        self.home, self.chosen, self.client = home, chosen, client

    @asynccontextmanager
    async def node(self) -> AsyncIterator[None]:
        options = NodeOptions(self.chosen.node_names, self.chosen.ranges, Declared(2, {"zone": "a"}))
        task = asyncio.create_task(
            run(self.home, from_kubeconfig(self.home.run / "node.kubeconfig"), options)
        )
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def controllers(self) -> AsyncIterator[None]:
        access = from_kubeconfig(self.home.run / "controllers.kubeconfig")
        task = asyncio.create_task(workloads.run(self.home, access))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def create(self, name: str, *command: str, **more: Any) -> Pod:
        container = {"name": "main", "image": "tried", "command": list(command), **more.pop("container", {})}
        spec = {"nodeName": self.chosen.node_names[0], "restartPolicy": "Never", "containers": [container]}
        metadata = {"name": name, "namespace": "default", "labels": {"app": "x"}}
        return await self.client.create(Pod.read({"metadata": metadata, "spec": spec | more}))

    async def pod(self, name: str) -> Pod:
        return await self.client.get(Pod, "default", name)

    async def until(self, condition: Callable[[], Awaitable[object]]) -> None:
        async with asyncio.timeout(30):
            while not await condition():
                await asyncio.sleep(0.02)

    async def until_phase(self, name: str, phase: str) -> Pod:
        async def reached() -> bool:
            return (await self.pod(name)).phase == phase

        await self.until(reached)
        return await self.pod(name)

    async def until_gone(self, name: str) -> None:
        async def gone() -> bool:
            return await self.client.find(Pod, "default", name) is None

        await self.until(gone)


@pytest.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    suite = tmp_path / "suites" / "tried"
    suite.mkdir(parents=True)
    (suite / "suite.yaml").write_text("name: tried\nimages: [tried]\npython: self\n")
    monkeypatch.setenv("PADDLECLOUD_SUITES", str(suite.parent))
    with tempfile.TemporaryDirectory(prefix="pdc-") as folder:
        home = Home(folder)
        chosen = identity.establish(home)
        async with serve.serving(home, chosen), Client(from_kubeconfig(home.kubeconfig)) as client:
            # Elsewhere a controller makes them.
            account = ServiceAccount.read({"metadata": {"name": "default", "namespace": "default"}})
            authority = {"name": "kube-root-ca.crt", "namespace": "default"}
            trusted = ConfigMap.read({"metadata": authority, "data": {"ca.crt": client.access.ca}})
            for made in (account, trusted):
                with contextlib.suppress(AlreadyExists):
                    await client.create(made)
            try:
                yield Cluster(home, chosen, client)
            finally:
                await stop_all(home, grace=0)


async def test_a_pod_runs_and_its_log_is_read_through_the_api(cluster: Cluster) -> None:
    async with cluster.node():
        await cluster.create("p", "sh", "-c", "cat $KUBERNETES_SERVICEACCOUNT/namespace; echo; exit 2")
        pod = await cluster.until_phase("p", "Failed")
        assert pod.status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 2
        assert await cluster.client.logs("default", "p", "main") == "default\n"
        reasons = [e.reason for e in (await cluster.client.list(Event, "default")).items]
        assert {"Pulled", "Created", "Started"} <= set(reasons)


async def test_a_pod_reaches_the_api_with_its_own_token(cluster: Cluster) -> None:
    code = (
        "import os, ssl, urllib.request as u; d = os.environ['KUBERNETES_SERVICEACCOUNT'];"
        "a = 'https://%(KUBERNETES_SERVICE_HOST)s:%(KUBERNETES_SERVICE_PORT)s/version' % os.environ;"
        "r = u.Request(a, headers={'Authorization': 'Bearer ' + open(d + '/token').read()});"
        "print(u.urlopen(r, context=ssl.create_default_context(cafile=d + '/ca.crt')).status)"
    )
    async with cluster.node():
        await cluster.create("p", "python", "-c", code)
        await cluster.until_phase("p", "Succeeded")
        assert await cluster.client.logs("default", "p", "main") == "200\n"


async def test_a_service_leads_to_the_ready_pods_behind_it(cluster: Cluster) -> None:
    probe = {"httpGet": {"port": 8080}, "periodSeconds": 1}
    ports = [{"port": 8000, "targetPort": 8080}]  # below 1024 an ordinary user's node may not listen
    wanted = {
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"app": "x"}, "ports": ports},
    }
    service = await cluster.client.create(Service.read(wanted))
    async with cluster.controllers(), cluster.node():
        for name in ("a", "b"):
            await cluster.create(name, "python", "-c", SERVER, container={"readinessProbe": probe})

        async def ask() -> str:
            try:
                reader, writer = await asyncio.open_connection(service.spec["clusterIP"], 8000)
                writer.write(b"GET / HTTP/1.0\r\n\r\n")
                answer = await reader.read()
                writer.close()
            except OSError:
                return ""
            return answer.decode().rpartition("\n")[2]

        async def both() -> bool:
            return {await ask(), await ask()} == {"a", "b"}

        await cluster.until(both)


async def test_programs_reach_the_api_by_its_name_in_the_cluster(cluster: Cluster) -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if os.geteuid() and first > 443:
        pytest.skip("port 443 is closed to this user; KUBERNETES_SERVICE_HOST leads to the API without it")
    program = (
        "import os, ssl, urllib.request as u; where = os.environ['KUBERNETES_SERVICEACCOUNT'];"
        "trust = ssl.create_default_context(cafile=where + '/ca.crt');"
        "ask = u.Request('https://kubernetes.default.svc/version');"
        "ask.add_header('Authorization', 'Bearer ' + open(where + '/token').read());"
        "print(u.urlopen(ask, context=trust, timeout=20).status)"
    )
    async with cluster.node():
        await cluster.create("p", "python", "-c", program)
        pod = await cluster.until_phase("p", "Succeeded")
        assert pod.finished
        assert await cluster.client.logs("default", "p", "main") == "200\n"


async def test_pods_outlive_the_node_process_and_deletion_removes_them(cluster: Cluster) -> None:
    async with cluster.node():
        await cluster.create("p", "sh", "-c", "echo up; exec sleep 600")
        before = await cluster.until_phase("p", "Running")
    async with cluster.node():
        again = await cluster.pod("p")
        assert again.status["containerStatuses"] == before.status["containerStatuses"]
        await cluster.client.delete(Pod, Key("default", "p"), grace=5)
        await cluster.until_gone("p")
    with pytest.raises(NotFound):
        await cluster.client.logs("default", "p", "main")


async def test_the_nodes_are_registered_with_what_they_have(cluster: Cluster) -> None:
    async with cluster.node():
        name = cluster.chosen.node_names[0]

        async def registered() -> bool:
            node = await cluster.client.find(Node, "", name)
            return node is not None and "conditions" in node.status

        await cluster.until(registered)
        node = await cluster.client.get(Node, "", name)
    assert node.metadata.labels["kubernetes.io/hostname"] == name and node.metadata.labels["zone"] == "a"
    assert node.status["capacity"]["nvidia.com/gpu"] == "2" and node.status["allocatable"]["pods"] == "250"
    assert len(node.status["nodeInfo"]) == 10 and all(node.status["nodeInfo"].values())
    conditions = {c["type"]: c["status"] for c in node.status["conditions"]}
    assert conditions.pop("PodsIsolated") in ("True", "False")
    pressures = {conditions.pop(kind) for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")}
    assert pressures <= {"True", "False"}
    assert conditions == {"Ready": "True", "NetworkUnavailable": "False", "PretendedDevices": "True"}


async def test_a_node_renews_its_lease_and_puts_right_what_others_made_of_it(cluster: Cluster) -> None:
    name = cluster.chosen.node_names[0]
    key = Key("", name)

    async def ready() -> bool:
        node = await cluster.client.find(Node, "", name)
        conditions = node.status.get("conditions") or () if node else ()
        return any((c["type"], c["status"]) == ("Ready", "True") for c in conditions)

    async def leased() -> Lease | None:
        return await cluster.client.find(Lease, "kube-node-lease", name)

    async with cluster.node():
        await cluster.until(ready)
        await cluster.until(leased)
        lease = await leased()
        node = await cluster.client.get(Node, "", name)
        assert lease is not None and lease.spec.holder_identity == name and lease.spec.renew_time
        assert [owner.uid for owner in lease.metadata.owner_references] == [node.uid]
        assert not node.spec.get("taints"), "a node that is ready takes pods"

        doubt = [{"type": "Ready", "status": "Unknown"}]
        await cluster.client.patch_status(Node, key, {"conditions": doubt})
        await cluster.until(ready)
        await cluster.client.delete(Node, key)
        await cluster.until(ready)
    assert (await cluster.client.get(Node, "", name)).uid != node.uid
    events = (await cluster.client.list(Event, "default")).items
    told = {event.reason for event in events if event.involved_object["name"] == name}
    assert {"Starting", "NodeReady"} <= told
    assert node.metadata.annotations["paddlecloud.org/isolation-limits"]
