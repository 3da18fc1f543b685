"""Services: a listener on every (clusterIP, port) that relays to the ready pods behind it, in turn.

Which pods stand behind which address is pure (`routes`); the relay moves bytes both ways, passes on a
half-close as such, and stops reading from the side that is faster than the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from ... import log
from ...api.core import Pod, Service
from .probes import named_ports


class Endpoint(NamedTuple):
    host: str
    port: int


Routes = dict[Endpoint, tuple[Endpoint, ...]]
CONNECT_WITHIN = 5.0


def routes(services: Iterable[Service], pods: Iterable[Pod]) -> Routes:
    """For every address of a Service the endpoints that may answer there; none, while no pod is ready."""
    ready = sorted((p for p in pods if p.ready and p.ip and not p.finished), key=lambda p: p.key)
    found: Routes = {}
    for service in services:
        address = str(service.spec.get("clusterIP") or "")
        if address in ("", "None") or not service.spec.get("selector"):
            continue
        behind = [p for p in ready if selects(service, p)]
        for port in service.spec.get("ports") or ():
            if (port.get("protocol") or "TCP") == "TCP":
                targets = (Endpoint(p.ip, number) for p in behind if (number := target_port(port, p)))
                found[Endpoint(address, int(port["port"]))] = tuple(targets)
    return found


def selects(service: Service, pod: Pod) -> bool:
    wanted: Mapping[str, str] = service.spec["selector"]
    same_namespace = pod.namespace == service.namespace
    return same_namespace and all(pod.metadata.labels.get(k) == v for k, v in wanted.items())


def target_port(port: Mapping[str, Any], pod: Pod) -> int:
    """The number behind `targetPort` in this pod; 0 when the pod has no port of that name."""
    target = port.get("targetPort") or port["port"]
    if isinstance(target, int):
        return target
    names = {name: n for c in pod.spec["containers"] for name, n in named_ports(c).items()}
    return names.get(target, int(target) if str(target).isdecimal() else 0)


class Proxy:
    """Keeps the listeners that the routes ask for."""

    def __init__(self) -> None:
        self._routes: Routes = {}
        self._servers: dict[Endpoint, asyncio.Server] = {}
        self._turns: dict[Endpoint, int] = {}
        self.callers: set[Caller] = set()
        self._log = log.logger("node.proxy")

    async def follow(self, wanted: Routes) -> None:
        """Listen where *wanted* says and nowhere else; connections that are open stay open."""
        self._routes = wanted
        for address in self._servers.keys() - wanted.keys():
            self._servers.pop(address).close()
            self._turns.pop(address, None)
        for address in wanted.keys() - self._servers.keys():
            try:
                await self._listen(address)
            except OSError as error:
                self._log.warning("cannot listen on %s:%d: %s", address.host, address.port, error.strerror)

    async def close(self) -> None:
        """Stop listening and hang up."""
        await self.follow({})
        for caller in list(self.callers):
            caller.hang_up()

    def candidates(self, address: Endpoint) -> list[Endpoint]:
        """Whom to try for the next connection, in this order."""
        endpoints = self._routes.get(address, ())
        if not endpoints:
            return []
        turn = self._turns.get(address, 0)
        self._turns[address] = turn + 1
        first = turn % len(endpoints)
        return [*endpoints[first:], *endpoints[:first]]

    async def _listen(self, address: Endpoint) -> None:
        loop = asyncio.get_running_loop()
        self._servers[address] = await loop.create_server(
            lambda: Caller(self, address), address.host, address.port, reuse_address=True
        )


class Side(asyncio.Protocol):
    """One end of a relayed connection; what it receives goes out at the other end."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: Side | None = None
        self.ended = False
        """Whether this end has said all it will say."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave as asyncio's without being of that class.
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.other and self.other.transport:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        self.ended = True
        if self.other is None or self.other.transport is None or self.other.transport.is_closing():
            return False
        self.other.transport.write_eof()
        if self.other.ended:
            self.other.transport.close()
        # Until the other end has ended too, its answer may still be on its way to this one.
        return not self.other.ended

    def pause_writing(self) -> None:
        if self.other and self.other.transport and not self.other.transport.is_closing():
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        other, self.other = self.other, None
        if other and other.transport:
            other.other = None
            if error is not None:
                other.transport.abort()
            else:
                other.transport.close()


class Caller(Side):
    """The side that called the Service; it is not read from before an endpoint has answered."""

    def __init__(self, proxy: Proxy, address: Endpoint) -> None:
        super().__init__()
        self._proxy, self._address = proxy, address
        self._dialling: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        self.transport.pause_reading()
        self._proxy.callers.add(self)
        self._dialling = asyncio.get_running_loop().create_task(self._dial())

    def connection_lost(self, error: Exception | None) -> None:
        self._proxy.callers.discard(self)
        if self._dialling:
            self._dialling.cancel()
        super().connection_lost(error)

    def hang_up(self) -> None:
        for side in (self, self.other):
            if side and side.transport:
                side.transport.abort()

    async def _dial(self) -> None:
        assert self.transport is not None
        loop = asyncio.get_running_loop()
        for endpoint in self._proxy.candidates(self._address):
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_WITHIN):
                    _, callee = await loop.create_connection(Side, *endpoint)
                self.other, callee.other = callee, self
                self.transport.resume_reading()
                return
        refuse(self.transport)


def refuse(transport: asyncio.Transport) -> None:
    """Reset the connection: a caller must not take "nobody is there" for an empty answer."""
    transport.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    transport.abort()
