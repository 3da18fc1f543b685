"""Conversations with pods through any Kubernetes API: WebSockets opened, and their refusals understood."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.trsock import TransportSocket
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from socket import SHUT_RDWR

import aiohttp
from yarl import URL

from ..errors import Unreachable
from . import requests
from .credentials import Bearer, tls
from .kubeconfig import Access
from .requests import Request

LARGEST = 32 * 1024 * 1024
CONNECT_WITHIN = 5.0
GONE_WITHIN, LOOK = 1.0, 0.002


@asynccontextmanager
async def conversation(
    access: Access, request: Request, protocols: Sequence[str]
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The WebSocket of *request*; raises the `ApiError` of a server that refuses it."""
    context = tls(access)
    connector = aiohttp.TCPConnector(limit=0, ssl=context if context is not None else True)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_WITHIN)
    url = URL(access.server + request.target, encoded=True)
    headers = {**request.headers, **Bearer(access).headers()}
    async with AsyncExitStack() as stack:
        lines: list[TransportSocket] = []
        # Added first, so done last: the session forgets a connection before TLS has taken its leave.
        stack.push_async_callback(ended, lines)
        session = await stack.enter_async_context(
            aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers)
        )
        try:
            socket = await session.ws_connect(
                url, protocols=protocols, max_msg_size=LARGEST, proxy=access.proxy or None,
                timeout=aiohttp.ClientWSTimeout(ws_close=2.0),
            )  # fmt: skip
        except aiohttp.WSServerHandshakeError as error:
            # A handshake drops the sentence of a refusal; asked without one, the server says it again.
            async with session.get(url, proxy=access.proxy or None) as answer:
                requests.parse(max(answer.status, 400), await answer.read())
            raise Unreachable(f"{access.name} takes no WebSocket: {error}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(
                f"{access.name} at {access.server} does not answer: {error}",
                next_step="check that it runs: `pdc status`",
            ) from error
        if line := socket.get_extra_info("socket"):
            lines.append(line)
        await stack.enter_async_context(socket)
        yield socket


async def ended(lines: Iterable[TransportSocket]) -> None:
    """Wait until connections have gone: a loop that ends before would leave them open."""
    for line in lines:
        with contextlib.suppress(OSError):
            line.shutdown(SHUT_RDWR)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GONE_WITHIN):
                while line.fileno() != -1:
                    await asyncio.sleep(LOOK)
