"""How long a change takes to reach a hundred watchers."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from benchmarks.wire import Measured, Target, load

NAME = re.compile(rb'"metadata":\{"name":"(fan-[0-9]+-[0-9]+)"')


class Watcher(asyncio.Protocol):
    """Notes when it heard of each object; reads no more of an event than its name."""

    def __init__(self, request: bytes, sent: dict[bytes, float], events: int) -> None:
        self._request, self._sent, self._left = request, sent, events
        self.times: list[float] = []
        self.ready, self.finished = asyncio.Event(), asyncio.Event()
        self._rest = self._text = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._rest += data
        if not self.ready.is_set():
            head = self._rest.find(b"\r\n\r\n")
            if head < 0:
                return
            self._rest = self._rest[head + 4 :]
            self.ready.set()
        self._take_chunks()
        end = self._text.rfind(b"\n") + 1
        for name in NAME.findall(self._text, 0, end):
            self.times.append((now - self._sent[name]) * 1000)
            self._left -= 1
        self._text = self._text[end:]
        if self._left <= 0:
            self.finished.set()

    def _take_chunks(self) -> None:
        """Move what has come from the encoding of HTTP to the text: a chunk may end within an event."""
        rest, start, parts = self._rest, 0, [self._text]
        while (line := rest.find(b"\r\n", start)) > 0:
            end = line + 2 + int(rest[start:line], 16)
            if len(rest) < end + 2:
                break
            parts.append(rest[line + 2 : end])
            start = end + 2
        self._rest, self._text = rest[start:], b"".join(parts)


def same(watcher: Watcher) -> Watcher:
    return watcher


@dataclass(frozen=True)
class Fan:
    writers: int
    watchers: int
    events: int


async def fan_out(target: Target, namespace: str, fan: Fan) -> Measured:
    """Create objects over some connections; every watcher notes when it heard of each."""
    writers, events = fan.writers, fan.events
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    query = f"{path}?watch=true&labelSelector=fan%3D{writers}&timeoutSeconds=600"
    sent: dict[bytes, float] = {}
    loop, context = asyncio.get_running_loop(), ssl.create_default_context(cadata=target.ca)
    opened = []
    for _ in range(fan.watchers):
        watcher = Watcher(target.request("GET", query), sent, events)
        transport, _ = await loop.create_connection(
            partial(same, watcher), target.host, target.port, ssl=context
        )
        opened.append((watcher, transport))
    for watcher, _ in opened:
        await watcher.ready.wait()

    def requests() -> Iterator[bytes]:
        for i in range(events):
            name = f"fan-{writers}-{i}"
            body = {"metadata": {"name": name, "labels": {"fan": str(writers)}}, "data": {"key": "value"}}
            request = target.request("POST", path, body)
            sent[name.encode()] = time.perf_counter()
            yield request

    began = time.perf_counter()
    await load(target, requests(), writers, lambda status: status == 201)
    for watcher, _ in opened:
        await watcher.finished.wait()
    measured = Measured(time.perf_counter() - began, [t for w, _ in opened for t in w.times])
    for _, transport in opened:
        transport.close()
    return measured
