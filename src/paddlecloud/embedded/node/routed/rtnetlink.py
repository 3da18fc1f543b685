"""The part of rtnetlink that pods need: links, addresses and routes of IPv4, as messages to the kernel.

Messages are bytes made by pure functions; `Netlink` sends any number of them in one piece and reads one
answer for each. It speaks for the network namespace in which it was made, wherever its process goes
afterwards. Only the standard library: it runs in processes forked by the zygote.
"""

from __future__ import annotations

import errno
import os
import struct
import time

from ..lightly import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Addressed = tuple[str, int]
    """An address and the length of its prefix."""

NEW_LINK, DELETE_LINK, GET_LINK, NEW_ADDRESS, NEW_ROUTE, DELETE_ROUTE, GET_ROUTE = 16, 17, 18, 20, 24, 25, 26
REQUEST, ACKNOWLEDGE, DUMP, REPLACE, EXCLUSIVE, CREATE = 0x1, 0x4, 0x300, 0x100, 0x200, 0x400
ERROR, DONE = 2, 3
UP = 1
STATE, IN_USE = 16, b"\6"
"""The state of RFC 2863, up. A new link has none, and the flags say of it that it runs."""
MAIN, LOCAL = 254, 255
UNICAST, OF_HOST, UNREACHABLE = 1, 2, 7
STATIC, ON_LINK = 4, 4
EVERYWHERE, THIS_LINK, THIS_HOST = 0, 253, 254
HEAD, LINK, ROUTE = struct.Struct("=IHHII"), struct.Struct("=BxHiII"), struct.Struct("=BBBBBBBBI")
LARGEST_PACKET = 65535
"""Bytes that a link passes on in one piece. Packets of pods never leave the machine (`outside`): the 1,500 of
a network card would only make many out of one."""
FORWARDING = 1
"""The place of `forwarding` among the settings of a link; see `linux/ip.h`."""
LARGEST = 1 << 17
PATIENCE = 10.0
PAUSE = 0.0005


def message(kind: int, flags: int, body: bytes) -> bytes:
    return HEAD.pack(HEAD.size + len(body), kind, REQUEST | ACKNOWLEDGE | flags, 0, 0) + body


def attribute(kind: int, value: bytes | int | str) -> bytes:
    if isinstance(value, str):
        value = value.encode() + b"\0"
    elif isinstance(value, int):
        value = struct.pack("=I", value)
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def pair(name: str, peer: str, namespace: int) -> bytes:
    """A pair of links: *name* here, *peer* in the network namespace of the descriptor *namespace*."""
    size = attribute(4, LARGEST_PACKET)
    other = LINK.pack(0, 0, 0, 0, 0) + attribute(3, peer) + size + attribute(28, namespace)
    information = attribute(1, "veth") + attribute(2, attribute(1, other))
    body = LINK.pack(0, 0, 0, 0, 0) + attribute(3, name) + size + attribute(18, information)
    return message(NEW_LINK, CREATE | EXCLUSIVE, body)


def link_up(index: int, forwards: bool = False) -> bytes:
    """Take the link into use; *forwards*: what comes in there may go out elsewhere."""
    settings = attribute(1, attribute(FORWARDING, 1))
    family = attribute(26, attribute(socket.AF_INET, settings)) if forwards else b""
    return message(NEW_LINK, 0, LINK.pack(0, 0, index, UP, UP) + family)


def delete_link(name: str) -> bytes:
    return message(DELETE_LINK, 0, LINK.pack(0, 0, 0, 0, 0) + attribute(3, name))


def address(index: int, host: str) -> bytes:
    """The address *host*, and no network around it, on a link."""
    packed = socket.inet_aton(host)
    body = struct.pack("=BBBBi", socket.AF_INET, 32, 0, EVERYWHERE, index)
    return message(NEW_ADDRESS, CREATE | REPLACE, body + attribute(2, packed) + attribute(1, packed))


def route(to: Addressed, index: int, via: str = "", source: str = "") -> bytes:
    """The way to a network: through the link *index*, to the neighbour *via* if there is one."""
    scope, flags = (EVERYWHERE, ON_LINK) if via else (THIS_LINK, 0)
    rest = attribute(4, index)
    rest += attribute(5, socket.inet_aton(via)) if via else b""
    rest += attribute(7, socket.inet_aton(source)) if source else b""
    return _route(NEW_ROUTE, CREATE | REPLACE, to, (MAIN, scope, UNICAST, flags), rest)


def unreachable(to: Addressed) -> bytes:
    """Whoever asks for this network is told at once that nobody is there; longer prefixes know better."""
    return _route(NEW_ROUTE, CREATE | REPLACE, to, (MAIN, EVERYWHERE, UNREACHABLE, 0), b"")


def local(to: Addressed, index: int) -> bytes:
    """Every address of this network is one of our own."""
    return _route(NEW_ROUTE, CREATE | REPLACE, to, (LOCAL, THIS_HOST, OF_HOST, 0), attribute(4, index))


def delete_route(to: Addressed) -> bytes:
    return _route(DELETE_ROUTE, 0, to, (MAIN, 255, 0, 0), b"")


def _route(kind: int, flags: int, to: Addressed, how: tuple[int, int, int, int], rest: bytes) -> bytes:
    table, scope, of, marks = how
    head = ROUTE.pack(
        socket.AF_INET, to[1], 0, 0, table, 0 if kind == DELETE_ROUTE else STATIC, scope, of, marks
    )
    return message(kind, flags, head + (attribute(1, socket.inet_aton(to[0])) if to[1] else b"") + rest)


class Netlink:
    """A socket to the kernel's tables; a context manager."""

    def __init__(self, made: socket.socket | None = None) -> None:
        self._socket = made or socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        self._socket.settimeout(PATIENCE)
        self._last = 0

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def do(self, *messages: bytes, but: tuple[int, ...] = ()) -> None:
        """Have all *messages* carried out, in this order; raises `OSError` for the first that is refused.

        Refusals with the error numbers *but* count as done.
        """
        first = self._last + 1
        self._socket.send(b"".join(self._numbered(piece) for piece in messages))
        refused = 0
        answers = 0
        while answers < len(messages):
            for kind, number, body in parts(self._socket.recv(LARGEST)):
                if kind == ERROR and number >= first:
                    answers += 1
                    code = -struct.unpack_from("=i", body)[0]
                    refused = refused or (0 if code in but else code)
        if refused:
            raise OSError(refused, f"the kernel refuses a change of the network: {os.strerror(refused)}")

    def links(self) -> dict[str, int]:
        """The links of the namespace, by name."""
        found = {}
        for body in self._dump(GET_LINK, LINK.pack(0, 0, 0, 0, 0)):
            index = LINK.unpack_from(body)[2]
            found[attributes(body, LINK.size)[3].rstrip(b"\0").decode()] = int(index)
        return found

    def wait_for(self, index: int, patience: float = PATIENCE) -> None:
        """Return once the link passes packets on: both of its ends are up, and the kernel has got to it.

        Raises `TimeoutError`. What is sent before is dropped, and its sender tries again after a second.
        """
        until = time.monotonic() + patience
        while self._states().get(index) != IN_USE:
            if time.monotonic() > until:
                raise TimeoutError(errno.ETIMEDOUT, "a link is up and does not come into use")
            time.sleep(PAUSE)

    def _states(self) -> dict[int, bytes]:
        links = self._dump(GET_LINK, LINK.pack(0, 0, 0, 0, 0))
        return {LINK.unpack_from(body)[2]: attributes(body, LINK.size)[STATE] for body in links}

    def routes(self) -> list[tuple[Addressed, int]]:
        """The networks of IPv4 in the main table, each with its link, 0 if it has none."""
        found = []
        for body in self._dump(GET_ROUTE, ROUTE.pack(socket.AF_INET, 0, 0, 0, 0, 0, 0, 0, 0)):
            _, length, _, _, table, *_ = ROUTE.unpack_from(body)
            values = attributes(body, ROUTE.size)
            if table == MAIN:
                index = struct.unpack("=I", values[4])[0] if 4 in values else 0
                found.append(((socket.inet_ntoa(values.get(1, bytes(4))), int(length)), int(index)))
        return found

    def _numbered(self, piece: bytes) -> bytes:
        self._last += 1
        return piece[:8] + struct.pack("=I", self._last) + piece[12:]

    def _dump(self, kind: int, body: bytes) -> Iterator[bytes]:
        self._socket.send(self._numbered(message(kind, DUMP, body)))
        number = self._last
        while True:
            for found, of, piece in parts(self._socket.recv(LARGEST)):
                if of != number:
                    continue
                if found == DONE:
                    return
                if found == ERROR:
                    raise OSError(errno.EIO, "the kernel does not show its network")
                yield piece


def parts(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, number and body of the messages in *data*."""
    while len(data) >= HEAD.size:
        size, kind, _, number, _ = HEAD.unpack_from(data)
        yield kind, number, data[HEAD.size : size]
        data = data[size + -size % 4 :]


def attributes(body: bytes, start: int) -> dict[int, bytes]:
    found = {}
    while start + 4 <= len(body):
        size, kind = struct.unpack_from("=HH", body, start)
        if size < 4:
            break
        found[kind & 0x3FFF] = body[start + 4 : start + size]
        start += size + -size % 4
    return found
