"""`pods/proxy`, `services/proxy` and `nodes/proxy`: HTTP to what runs in the cluster, through the API server.

Which pod and port a name means is decided by pure functions; the node makes the connection.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from ...errors import BadRequest, Unavailable
from ..passing import passed
from ..store import Place
from . import refusals
from .kinds import Kind
from .objects import Objects
from .paths import Target
from .streams import NodeStreams, silent

Body = dict[str, Any]
SCHEMES = ("http", "https")
UNREACHED = "Paddlecloud-Unreached"


@dataclass(frozen=True)
class Named:
    """`NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`."""

    name: str
    port: str = ""
    scheme: str = "http"


class Proxies:
    def __init__(self, objects: Objects, streams: NodeStreams) -> None:
        self._objects, self._streams = objects, streams

    async def answer(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        path = rest_of(request.rel_url.raw_path, namespaced=bool(target.namespace))
        named = named_by(target.name)
        if kind.plural == "nodes":
            self._objects.get(kind, "", named.name)
            where = f"nodes/{named.name}"
        else:
            find = self._of_service if kind.plural == "services" else self._of_pod
            pod, port = find(kind, target.namespace, named)
            where = f"proxy/{target.namespace}/{pod}/{named.scheme}/{port}"
        url = URL(f"http://node/{where}/{path}", encoded=True)
        if request.query_string:
            url = URL(f"{url}?{request.rel_url.raw_query_string}", encoded=True)
        try:
            return await passed(request, self._streams.client(), url, refused=unreached)
        except aiohttp.ClientError as error:
            raise silent(named.name, error) from error

    def _of_pod(self, kind: Kind, namespace: str, named: Named) -> tuple[str, int]:
        pod = self._objects.get(kind, namespace, named.name).load()
        if not (pod.get("status") or {}).get("podIP"):
            raise BadRequest("address not allowed")
        return named.name, pod_port(pod, named.port)

    def _of_service(self, kind: Kind, namespace: str, named: Named) -> tuple[str, int]:
        service = self._objects.get(kind, namespace, named.name).load()
        entry = self._objects.store.get(Place("/endpoints", namespace, named.name))
        if entry is None:
            raise refusals.not_found(kind, named.name)
        ways = endpoints_of(service, entry.load(), named.port)
        if not ways:
            raise Unavailable(f'no endpoints available for service "{named.name}"')
        return random.choice(ways)


def named_by(text: str) -> Named:
    parts = text.split(":")
    if len(parts) == 1:
        return Named(text)
    if len(parts) == 2:
        return Named(parts[0], parts[1])
    if len(parts) == 3 and parts[0] in ("", *SCHEMES):
        return Named(parts[1], parts[2], parts[0] or "http")
    raise BadRequest(f'invalid name "{text}": write NAME, NAME:PORT or SCHEME:NAME:PORT')


def pod_port(pod: Body, asked: str) -> int:
    """The port that is meant; without one the first that a container declares, or 80."""
    ports = [port for container in pod["spec"]["containers"] for port in container.get("ports") or ()]
    if not asked:
        return int(ports[0]["containerPort"]) if ports else 80
    if asked.isdecimal():
        return int(asked)
    found = [int(port["containerPort"]) for port in ports if port.get("name") == asked]
    if not found:
        raise BadRequest(f'pod {pod["metadata"]["name"]} has no port named "{asked}"')
    return found[0]


def endpoints_of(service: Body, endpoints: Body, asked: str) -> list[tuple[str, int]]:
    """The pods behind a port of *service*, each with the port to use there."""
    declared = service["spec"].get("ports") or ()
    matching = [p for p in declared if asked in ("", str(p["port"]), p.get("name") or "")]
    if not matching:
        raise Unavailable(f'no service port "{asked}" found for service "{service["metadata"]["name"]}"')
    wanted = matching[0].get("name") or ""
    return [
        (address["targetRef"]["name"], int(port["port"]))
        for subset in endpoints.get("subsets") or ()
        for port in subset.get("ports") or ()
        if (port.get("name") or "") == wanted
        for address in subset.get("addresses") or ()
        if (address.get("targetRef") or {}).get("kind") == "Pod"
    ]


def rest_of(path: str, namespaced: bool) -> str:
    """What follows `/api/v1/[namespaces/NAMESPACE/]KIND/NAME/proxy/`, as it was written."""
    before = 8 if namespaced else 6
    parts = path.split("/", before)
    return parts[before] if len(parts) > before else ""


async def unreached(answer: aiohttp.ClientResponse) -> None:
    """Raises what the node says of itself; what the pod says is passed on."""
    if answer.headers.get(UNREACHED):
        raise Unavailable(await answer.text())
