"""What the node answers and the API passes on: logs; exec, attach and port-forward have their place here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from ...errors import BadRequest, Unavailable, from_status


class NodeStreams:
    """The node's own API, on a socket in the home."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    async def logs(self, request: web.Request, pod: dict[str, Any]) -> web.StreamResponse:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        container = chosen_container(pod, request.query.get("container") or "")
        query = {k: v for k, v in request.query.items() if k != "container"}
        if not pod["spec"].get("nodeName"):
            raise BadRequest(f'pod "{name}" has no log yet: it has not been assigned to a node')
        try:
            answer = await self._client().get(
                f"http://node/containerLogs/{namespace}/{name}/{container}", params=query
            )
        except aiohttp.ClientError as error:
            raise Unavailable(f"the node of pod {name} does not answer: {error}") from error
        async with answer:
            if answer.status != 200:
                raise from_status(answer.status, {"message": (await answer.text()).strip()})
            response = web.StreamResponse(headers={"Content-Type": "text/plain"})
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A log may be followed for days.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.UnixConnector(str(self._socket), limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=5),
            )
        return self._session


def chosen_container(pod: dict[str, Any], asked: str) -> str:
    """The container whose log is meant; with several, the user must say which."""
    spec = pod["spec"]
    names = [c["name"] for c in spec["containers"]]
    every = names + [c["name"] for c in spec.get("initContainers") or ()]
    pod_name = pod["metadata"]["name"]
    if not asked and len(names) > 1:
        raise BadRequest(
            f"a container name must be specified for pod {pod_name}, choose one of: [{' '.join(names)}]"
        )
    if asked and asked not in every:
        raise BadRequest(f"container {asked} is not valid for pod {pod_name}")
    return asked or names[0]
