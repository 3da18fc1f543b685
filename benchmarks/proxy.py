"""The service proxy on one core: small HTTP requests with keep-alive, through it and without it.

    python -m benchmarks.proxy [--connections 32] [--seconds 5]

Three processes: a backend that answers with prepared bytes, the proxy, and this one as the client. On a busy
machine the wall clock says little, so the figure that counts is requests per second of the proxy's own
processor time; the added latency is measured with one connection, alternating between both ways.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import socket
import statistics
import time
from multiprocessing.connection import Connection
from typing import cast

import uvloop

from paddlecloud.embedded.node.network.proxy import Proxy
from paddlecloud.embedded.node.network.routing import Behind, Endpoint, Front

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: shapes.default.svc\r\nAccept: */*\r\n\r\n"
BODY = b'{"status":"ok"}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n" + BODY
TARGET_RATE, TARGET_ADDED = 10_000, 0.3


class Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(ANSWER * data.count(b"\r\n\r\n"))


class Asking(asyncio.Protocol):
    """One request after the other until the time is over."""

    def __init__(self, until: float) -> None:
        self._until = until
        self.times: list[float] = []
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing > 0:
            return
        if self._missing < 0 or not data.endswith(BODY):
            raise AssertionError(f"an answer that was not asked for: {data!r}")
        self.times.append(time.perf_counter() - self._asked)
        if time.perf_counter() < self._until:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None)

    def _ask(self) -> None:
        self._asked, self._missing = time.perf_counter(), len(ANSWER)
        self._transport.write(REQUEST)


def backend(pipe: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[:2])
        await asyncio.Event().wait()

    uvloop.run(serve())


def relay(pipe: Connection) -> None:
    endpoint = Endpoint(*pipe.recv())

    async def serve() -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            front = Front(*probe.getsockname())
        proxy = Proxy()
        await proxy.follow({front: Behind((endpoint,))})
        pipe.send((front.host, front.port))
        await asyncio.Event().wait()

    uvloop.run(serve())


async def ask(where: tuple[str, int], connections: int, seconds: float) -> list[float]:
    until = time.perf_counter() + seconds
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(lambda: Asking(until), *where) for _ in range(connections)]
    for _, asking in made:
        await asking.over
    return [t for _, asking in made for t in asking.times]


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(
    direct: tuple[str, int], through: tuple[str, int], proxy: int, wish: argparse.Namespace
) -> bool:
    before, began = processor_seconds(proxy), time.perf_counter()
    times = await ask(through, wish.connections, wish.seconds)
    took, spent = time.perf_counter() - began, processor_seconds(proxy) - before
    rate = len(times) / max(spent, 0.01)
    print(f"{len(times) / took:,.0f} requests/s by the clock, {wish.connections} connections")
    print(f"{rate:,.0f} requests per second of the proxy's processor (wanted: {TARGET_RATE:,})")
    ways: dict[str, list[float]] = {"direct": [], "through": []}
    for _ in range(10):
        for name, where in (("direct", direct), ("through", through)):
            ways[name].append(statistics.median(await ask(where, 1, wish.seconds / 20)) * 1000)
    added = min(ways["through"]) - min(ways["direct"])
    print(f"p50 {min(ways['direct']):.3f} ms without, {min(ways['through']):.3f} ms with the proxy")
    print(f"{added:.3f} ms added (wanted: {TARGET_ADDED}); the quietest of ten rounds each")
    return rate >= TARGET_RATE and added <= TARGET_ADDED


def main() -> int:
    parser = argparse.ArgumentParser(description="The service proxy on one core.")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    wish = parser.parse_args()
    started, pipes = [], []
    for work in (backend, relay):
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=work, args=(theirs,), daemon=True)
        process.start()
        started.append(process)
        pipes.append(ours)
    try:
        direct = pipes[0].recv()
        pipes[1].send(direct)
        through = pipes[1].recv()
        proxy = started[1].pid
        assert proxy is not None
        return 0 if uvloop.run(measure(direct, through, proxy, wish)) else 1
    finally:
        for process in started:
            process.kill()


if __name__ == "__main__":
    raise SystemExit(main())
