"""How long a change takes to reach a hundred watchers.

The watchers live in a process of their own that reads sockets and does nothing else: what is measured is
the servers, and the writers do not wait for the watchers of the same run. The clock is the machine's.
"""

from __future__ import annotations

import multiprocessing
import re
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection

from benchmarks.wire import Measured, Target, load

NAME = re.compile(rb'"metadata":\{"name":"(fan-[0-9]+-[0-9]+)"')
LARGEST = 1 << 18
QUIET = 0.5  # seconds
Heard = list[tuple[bytes, float]]


@dataclass(frozen=True)
class Fan:
    writers: int
    watchers: int
    events: int
    listening: Callable[[], None]
    """Called when all of them listen, before the first write."""


async def fan_out(target: Target, namespace: str, fan: Fan) -> Measured:
    """Create objects over some connections; every watcher notes when it heard of each."""
    writers, events = fan.writers, fan.events
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    query = f"{path}?watch=true&labelSelector=fan%3D{writers}&timeoutSeconds=600"
    sent: dict[bytes, float] = {}

    def requests() -> Iterator[bytes]:
        for i in range(events):
            name = f"fan-{writers}-{i}"
            body = {"metadata": {"name": name, "labels": {"fan": str(writers)}}, "data": {"key": "value"}}
            request = target.request("POST", path, body)
            sent[name.encode()] = time.perf_counter()
            yield request

    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=watch, args=(target, query, (fan.watchers, events), theirs))
    process.start()
    theirs.close()  # so that the end of the process is the end of its words
    try:
        ours.recv()  # all of them listen
        fan.listening()
        began = time.perf_counter()
        await load(target, requests(), writers, lambda status: status == 201)
        heard: Heard = ours.recv()
    finally:
        process.terminate()
        process.join()
    last = max(moment for _, moment in heard)
    return Measured(last - began, [(moment - sent[name]) * 1000 for name, moment in heard])


def watch(target: Target, path: str, counts: tuple[int, int], report: Connection) -> None:
    """The process of the watchers: says when they listen, and at the end what they heard and when.

    Servers, writers and watchers share the machine, so a watcher only notes bytes and their moment while
    the servers work; they are read as events when nothing comes any more.
    """
    context = ssl.create_default_context(cadata=target.ca)
    heard: Heard = []
    watchers, events = counts
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(watchers):
            plain = socket.create_connection((target.host, target.port))
            connection = stack.enter_context(context.wrap_socket(plain, server_hostname=target.host))
            connection.sendall(target.request("GET", path))
            rest = b""
            while b"\r\n\r\n" not in rest:
                rest += connection.recv(LARGEST)
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ, Stream(rest.partition(b"\r\n\r\n")[2]))
        report.send("listening")
        while len(heard) < watchers * events:
            for stream, moment, data in taken(selector):
                heard += [(name, moment) for name in stream.names(data)]
    report.send(heard)


def taken(selector: selectors.BaseSelector) -> list[tuple[Stream, float, bytes]]:
    """What came to all of them, until nothing came for a while."""
    pieces = []
    while ready := selector.select(QUIET if pieces else None):
        for key, _ in ready:
            assert isinstance(key.fileobj, ssl.SSLSocket)
            pieces += [(key.data, *piece) for piece in read(key.fileobj)]
    return pieces


def read(connection: ssl.SSLSocket) -> Iterator[tuple[float, bytes]]:
    """Take all that has come; TLS may hold more than the socket tells of."""
    while True:
        try:
            data = connection.recv(LARGEST)
        except ssl.SSLWantReadError:
            return  # a part of a TLS record
        if not data:
            raise ConnectionError("the server ended a watch")
        yield time.perf_counter(), data
        if not connection.pending():
            return


class Stream:
    """One watcher's bytes; reads no more of an event than its name."""

    def __init__(self, rest: bytes) -> None:
        self._rest, self._text = rest, b""

    def names(self, data: bytes) -> list[bytes]:
        rest, start, parts = self._rest + data, 0, [self._text]
        # A chunk of HTTP may end within an event.
        while (line := rest.find(b"\r\n", start)) > 0:
            end = line + 2 + int(rest[start:line], 16)
            if len(rest) < end + 2:
                break
            parts.append(rest[line + 2 : end])
            start = end + 2
        text = b"".join(parts)
        end = text.rfind(b"\n") + 1
        self._rest, self._text = rest[start:], text[end:]
        return NAME.findall(text, 0, end)
