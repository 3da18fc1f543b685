"""HTTP requests to the ports of pods, on behalf of whoever may use `pods/proxy` and `services/proxy`."""

from __future__ import annotations

import contextlib
import ssl
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from ...errors import Failed
from ..passing import passed
from .dialing import Door, Ways, dial
from .targets import FindPod, pod_of

UNREACHED = "Paddlecloud-Unreached"
"""A header of answers that are ours and not the pod's."""


class PodProxy:
    def __init__(self, find: FindPod, ways: Ways) -> None:
        self._find, self._ways = find, ways

    async def answer(self, request: web.Request) -> web.StreamResponse:
        folder, record = pod_of(self._find, request)
        scheme, port = request.match_info["scheme"], int(request.match_info["port"])
        path = request.rel_url.raw_path.split("/", 6)[6]
        query = f"?{request.rel_url.raw_query_string}" if request.query_string else ""
        url = URL(f"{scheme}://{record.address}:{port}/{path}{query}", encoded=True)
        connector = Doorway(Door(folder, record, port), self._ways)
        timeout = aiohttp.ClientTimeout(total=None)
        try:
            async with aiohttp.ClientSession(
                connector=connector, timeout=timeout, auto_decompress=False
            ) as session:
                return await passed(request, session, url)
        except (aiohttp.ClientError, Failed) as error:
            why = error.message if isinstance(error, Failed) else str(error)
            text = f"error trying to reach service: dial tcp {record.address}:{port}: connect: {why}"
            return web.Response(status=503, text=text, headers={UNREACHED: "true"})


class Doorway(aiohttp.BaseConnector):
    """Connections to one port of one pod."""

    def __init__(self, door: Door, ways: Ways) -> None:
        super().__init__(force_close=True)
        self._door, self._ways = door, ways

    async def _create_connection(self, req: aiohttp.ClientRequest, *more: Any) -> ResponseHandler:
        connection = await dial(self._door, self._ways)
        context = unasking() if req.url.scheme == "https" else None
        try:
            _transport, protocol = await self._loop.create_connection(
                self._factory, sock=connection, ssl=context, server_hostname="" if context else None
            )
        except BaseException:
            with contextlib.suppress(OSError):
                connection.close()
            raise
        return protocol


def unasking() -> ssl.SSLContext:
    """As on Kubernetes, nobody asks a pod for its certificate's authority."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
