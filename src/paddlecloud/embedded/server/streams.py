"""What the node answers and the API passes on: logs, commands, terminals, forwarded ports.

The API server knows who asks and what the pod is; the node knows the containers. A WebSocket is passed on
message by message in the dialect the client chose; nothing is kept in between, so that whoever is slow slows
down only the one who talks to them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
from aiohttp import WSMsgType, web

from ...cluster.client import to_socket
from ...errors import ApiError, BadRequest, NotFound, Unavailable, from_status
from .. import websockets
from ..store import Place
from . import logqueries
from .websockettokens import without_tokens

Body = dict[str, Any]
NOBODY = "-"
"""Stands where a pod's name stands when none that is there is meant; no pod can be called so."""


class NodeStreams:
    """The node's own API, on a socket in the home."""

    def __init__(self, socket: Path, exists: Callable[[Place], object]) -> None:
        self._socket, self._exists = socket, exists
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    async def logs(self, request: web.Request, pod: Body) -> web.StreamResponse:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        container = chosen_container(pod, request.query.get("container") or "")
        query = {k: v for k, v in request.query.items() if k != "container"}
        logqueries.check(name, query)
        if not pod["spec"].get("nodeName"):
            return web.Response(status=204)
        self._demand_node(pod)
        path = f"containerLogs/{namespace}/{name}/{container}"
        return await self._passed_on(request, path, query, lambda said: waiting_reason(pod, container, said))

    async def kept_logs(self, request: web.Request, namespace: str) -> web.StreamResponse:
        """The log of the pod that `kept` names and that is gone; without a name which there are, as JSON.

        No Kubernetes has this: there, a pod called `-` is not found.
        """
        name = request.query["kept"]
        query = {k: v for k, v in request.query.items() if k != "kept"}
        logqueries.check(name, query)
        path = f"keptLogs/{namespace}/{quote(name, safe='')}" if name else f"keptPods/{namespace}"
        return await self._passed_on(request, path, query)

    async def records(self, request: web.Request, namespace: str) -> web.StreamResponse:
        """What the container of the pod that `records` names wrote down with VisualDL, as JSON; as above."""
        named = (request.query["records"], request.query.get("container") or "")
        pod, container = (quote(name, safe="") for name in named)
        return await self._passed_on(request, f"containerRecords/{namespace}/{pod}/{container}", {})

    async def _passed_on(
        self, request: web.Request, path: str, query: Body, rest: Callable[[str], str] = lambda said: ""
    ) -> web.StreamResponse:
        """What the node answers; *rest* ends the sentence of its refusal."""
        try:
            answer = await self.client().get(f"http://node/{path}", params=query)
        except aiohttp.ClientError as error:
            raise silent("/".join(path.split("/")[1:3]), error) from error
        async with answer:
            if answer.status != 200:
                message = (await answer.text()).strip()
                raise from_status(answer.status, {"message": message + rest(message)})
            response = web.StreamResponse(headers={"Content-Type": "text/plain"})
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    async def converse(self, request: web.Request, pod: Body, verb: str) -> web.StreamResponse:
        """Pass a WebSocket on to the node: `exec` or `attach` to a container, `portForward` to a pod."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        path = f"http://node/{verb}/{namespace}/{name}"
        if verb != "portForward":
            path += "/" + chosen_container(pod, request.query.get("container") or "")
        if not pod["spec"].get("nodeName"):
            raise BadRequest(f"pod {name} does not have a host assigned")
        self._demand_node(pod)
        if not websockets.wants_websocket(request):
            # A client whose WebSocket was refused tries an older protocol: it is told the first reason again.
            raise await self._refusal(path, request)
        try:
            node = await self.client().ws_connect(
                path,
                params=request.query,
                protocols=without_tokens(websockets.offered(request)),
                max_msg_size=websockets.LARGEST,
                timeout=aiohttp.ClientWSTimeout(ws_close=2.0),
            )
        except aiohttp.WSServerHandshakeError as error:
            raise await self._refusal(path, request) from error
        except aiohttp.ClientError as error:
            raise silent(name, error) from error
        async with node:
            client = await websockets.accepted(request, [node.protocol] if node.protocol else [])
            async with websockets.kept(client):
                await relay(client, node)
            await client.close()
            return client

    async def _refusal(self, path: str, request: web.Request) -> ApiError:
        """Why the node takes no WebSocket; asked without one, because a handshake drops the sentence."""
        try:
            async with self.client().get(path, params=request.query) as answer:
                return from_status(answer.status, {"message": (await answer.text()).strip()})
        except aiohttp.ClientError as error:
            return silent(path.split("/")[5], error)

    def _demand_node(self, pod: Body) -> None:
        """A pod may be bound to a node that is gone; Kubernetes calls that node a pod, too."""
        node = pod["spec"]["nodeName"]
        if not self._exists(Place("/nodes", "", node)):
            raise NotFound(f'pods "{node}" not found', details={"name": node, "kind": "pods"})

    def client(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A log may be followed for days.
            self._session = aiohttp.ClientSession(
                connector=to_socket(self._socket),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=5),
                auto_decompress=False,
            )
        return self._session


async def relay(one: websockets.Socket, other: websockets.Socket) -> None:
    """Pass messages on both ways until one side has closed."""
    try:
        await websockets.first_of(pass_on(one, other), pass_on(other, one))
    except ConnectionError:
        # One of them is gone; the caller closes the other.
        return


async def pass_on(source: websockets.Socket, target: websockets.Socket) -> None:
    async for message in source:
        if message.type is WSMsgType.BINARY:
            await target.send_bytes(message.data)
        elif message.type is WSMsgType.TEXT:
            await target.send_str(message.data)


def silent(pod: str, error: Exception) -> Unavailable:
    return Unavailable(f"the node of pod {pod} does not answer: {error}")


def waiting_reason(pod: Body, container: str, message: str) -> str:
    """The rest of the sentence of a log that has not begun, as far as the pod's status knows it."""
    if not message.endswith("is waiting to start"):
        return ""
    status = pod.get("status") or {}
    kinds = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    for told in (told for kind in kinds for told in status.get(kind) or ()):
        if told["name"] == container and (reason := told.get("state", {}).get("waiting", {}).get("reason")):
            return f": {IN_OTHER_WORDS.get(reason, reason)}"
    return ""


IN_OTHER_WORDS = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def chosen_container(pod: Body, asked: str) -> str:
    """The container that is meant; with several, the user must say which."""
    spec = pod["spec"]
    names = [c["name"] for c in spec["containers"]]
    others = ("initContainers", "ephemeralContainers")
    every = names + [c["name"] for field in others for c in spec.get(field) or ()]
    pod_name = pod["metadata"]["name"]
    if not asked and len(names) > 1:
        raise BadRequest(
            f"a container name must be specified for pod {pod_name}, choose one of: [{' '.join(names)}]"
        )
    if asked and asked not in every:
        raise BadRequest(f"container {asked} is not valid for pod {pod_name}")
    return asked or names[0]
