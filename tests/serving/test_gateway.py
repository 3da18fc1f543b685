"""The gateway on a real API: what the objects say is where requests go, without a restart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest
from aiohttp import web
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until as wait_until
from tests.servers import Server

from paddlecloud.api.knative import KnativeService
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.errors import Failed
from paddlecloud.localsockets import on_port
from paddlecloud.serving.gateway import run

PATIENCE = 60.0


@asynccontextmanager
async def gateway(server: Server) -> AsyncIterator[str]:
    with on_port(0) as listener:
        task = asyncio.create_task(run(from_kubeconfig(server.kubeconfig), listener))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@asynccontextmanager
async def pod() -> AsyncIterator[int]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield int(runner.addresses[0][1])
    await runner.cleanup()


async def until(url: str, host: str, status: int) -> str:
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as client:
        while True:
            async with client.get(url, headers={"Host": host}) as answer:
                if answer.status == status:
                    return await answer.text()


async def test_a_service_is_found_served_and_gone_as_its_objects_are(
    server: Server, rest: Rest, namespace: str
) -> None:
    host = f"shop.{namespace}.example.com"
    async with gateway(server) as url, pod() as port:
        assert "no service answers" in await until(url, host, 404)

        await asyncio.to_thread(make_service, rest, namespace, port)
        # The pod is there and not ready: a request waits for it.
        waiting = asyncio.create_task(until(url, host, 200))
        await asyncio.to_thread(become_ready, rest, namespace)
        assert await waiting == "hello"

        await asyncio.to_thread(
            rest.delete, f"/apis/serving.knative.dev/v1/namespaces/{namespace}/services/shop"
        )
        await until(url, host, 404)


async def test_a_taken_port_is_a_sentence() -> None:
    async with pod() as port:
        with pytest.raises(Failed, match=f"nothing can listen on 127.0.0.1:{port}"):
            on_port(port)


def make_service(rest: Rest, namespace: str, port: int) -> None:
    container = {"name": "c", "image": "paddlecloud/serving", "ports": [{"containerPort": port}]}
    template = {"metadata": {"name": "shop-1"}, "spec": {"containers": [container]}}
    service = KnativeService.read({"metadata": {"name": "shop"}, "spec": {"template": template}})
    rest.post(f"/apis/serving.knative.dev/v1/namespaces/{namespace}/services", service.wire()).expect(201)


def become_ready(rest: Rest, namespace: str) -> None:
    """What a node would say of the pod of the only revision."""
    base = f"/api/v1/namespaces/{namespace}/pods"
    query = f"{base}?labelSelector=serving.knative.dev/revision=shop-1"
    [pod] = wait_until(lambda: rest.get(query).expect(200)["items"], what="a pod")
    ready = {"podIP": "127.0.0.1", "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    rest.merge(f"{base}/{pod['metadata']['name']}/status", {"status": ready}).expect(200)
