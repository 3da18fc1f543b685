"""What a cluster asks a controller process: is it alive, does it see the cluster, what has it done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from ..errors import Failed
from .health import Health
from .metrics import Metrics


@asynccontextmanager
async def reporting(host: str, port: int, health: Health, metrics: Metrics) -> AsyncIterator[int]:
    """`/healthz`, `/readyz` and `/metrics` inside this block, on the port it yields."""

    async def ready(_: web.Request) -> web.Response:
        return web.Response(text="ok") if health.synced else web.Response(status=503, text="caches are empty")

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def counted(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4"})

    app = web.Application()
    app.add_routes([web.get("/healthz", alive), web.get("/readyz", ready), web.get("/metrics", counted)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        raise Failed(
            f"port {port} is in use by another program", next_step="choose another --port"
        ) from error
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
