"""The listeners of the pipelines service; the service itself is loaded with the first request.

An idle cluster pays for two sockets only. At one the kernel says who calls, and the service acts for the
owner. At the other pods call: it acts with the token they show, and they may do what their account may.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from .. import log
from ..cluster.client import Client
from ..cluster.kubeconfig import Access
from ..errors import Forbidden, Unauthorized
from .callers import Address, check, on_behalf

_log = log.logger("pipelines")
LARGEST_REQUEST = 40 * 1024 * 1024
Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def listen(access: Access, owner: socket.socket, pods: socket.socket) -> None:
    """Be the pipelines service at the two sockets until cancelled."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(access))

        async def for_owner(request: web.Request) -> web.StreamResponse:
            from .service.answering import answer, refused

            try:
                check(*ends(request), request.headers.get("Origin", ""), request.host)
            except Forbidden as error:
                return refused(error)
            return await answer(request, client)

        async def for_pods(request: web.Request) -> web.StreamResponse:
            from .service.answering import answer, refused

            try:
                caller = on_behalf(access, request.headers.get("Authorization", ""))
            except Unauthorized as error:
                return refused(error)
            async with Client(caller) as theirs:
                return await answer(request, theirs)

        for listener, handle in ((owner, for_owner), (pods, for_pods)):
            await stack.enter_async_context(served(listener, handle))
        ports = owner.getsockname()[1], pods.getsockname()[1]
        _log.info("listening on port %d, for pods on port %d", *ports)
        await asyncio.Event().wait()


@asynccontextmanager
async def served(listener: socket.socket, handle: Handle) -> AsyncIterator[None]:
    app = web.Application(client_max_size=LARGEST_REQUEST)
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()


def ends(request: web.Request) -> tuple[Address, Address]:
    """The two ends of a connection, the caller's first; one that is gone already has none."""
    known = request.transport.get_extra_info if request.transport else lambda _: None
    gone: Address = ("0.0.0.0", 0)
    return known("peername") or gone, known("sockname") or gone
