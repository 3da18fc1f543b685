"""The listener of the pipelines service; the service itself is loaded with the first request.

An idle cluster pays for a socket only.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from aiohttp import web

from .. import log
from ..cluster.client import Client
from ..cluster.kubeconfig import Access
from ..errors import Forbidden
from .callers import Address, check

_log = log.logger("pipelines")
LARGEST_REQUEST = 40 * 1024 * 1024


async def listen(access: Access, host: str, port: int) -> None:
    """Be the pipelines service until cancelled."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(access))

        async def handle(request: web.Request) -> web.StreamResponse:
            from .service.answering import answer, refused

            try:
                check(*ends(request), request.headers.get("Origin", ""), request.host)
            except Forbidden as error:
                return refused(error)
            return await answer(request, client)

        app = web.Application(client_max_size=LARGEST_REQUEST)
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=2)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, host, port)
        await site.start()
        _log.info("listening on %s:%d", host, port)
        await asyncio.Event().wait()


def ends(request: web.Request) -> tuple[Address, Address]:
    """The two ends of a connection, the caller's first; one that is gone already has none."""
    known = request.transport.get_extra_info if request.transport else lambda _: None
    gone: Address = ("0.0.0.0", 0)
    return known("peername") or gone, known("sockname") or gone
