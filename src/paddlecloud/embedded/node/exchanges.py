"""One request over a connection of its own, read as far as the head of its response.

Hundreds of containers are asked every few seconds, nearly always at an address of this machine and without
encryption: that way takes a bare socket. Whatever else there is takes the longer way.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

LONGEST_HEAD = 64 * 1024
END = b"\r\n\r\n"
Dial = Callable[[int], Awaitable[socket.socket]]


@dataclass(frozen=True)
class Place:
    host: str
    port: int
    secure: bool = False
    dial: Dial | None = None
    """How to connect to a pod whose network is not the machine's."""

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


async def exchange(place: Place, request: bytes) -> bytes:
    """The head of the response; raises `OSError`, `EOFError` or `ValueError`."""
    if place.secure or not is_address(place.host):
        return await exchange_streams(place, request)
    loop = asyncio.get_running_loop()
    with await connected(place) as connection:
        await loop.sock_sendall(connection, request)
        head = b""
        while END not in head:
            if len(head) > LONGEST_HEAD:
                raise ValueError("the head of the response is too long")
            piece = await loop.sock_recv(connection, 4096)
            if not piece:
                raise EOFError
            head += piece
    return head.partition(END)[0]


async def connect(place: Place) -> None:
    """Find out whether somebody listens; raises `OSError`."""
    if is_address(place.host):
        (await connected(place)).close()
    else:
        _, writer = await asyncio.open_connection(place.host, place.port)
        writer.transport.abort()


async def connected(place: Place) -> socket.socket:
    if place.dial is not None:
        return await place.dial(place.port)
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, (place.host, place.port))
    except BaseException:
        connection.close()
        raise
    return connection


async def exchange_streams(place: Place, request: bytes) -> bytes:
    encryption = unverified() if place.secure else None
    if place.dial is not None:
        reader, writer = await asyncio.open_connection(
            sock=await place.dial(place.port), ssl=encryption, limit=LONGEST_HEAD,
            server_hostname=place.host if encryption else None,
        )  # fmt: skip
    else:
        reader, writer = await asyncio.open_connection(
            place.host, place.port, ssl=encryption, limit=LONGEST_HEAD
        )
    try:
        writer.write(request)
        return (await reader.readuntil(END)).removesuffix(END)
    except asyncio.LimitOverrunError as error:
        raise ValueError("the head of the response is too long") from error
    finally:
        writer.transport.abort()


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def unverified() -> ssl.SSLContext:
    # As on Kubernetes, a probe does not ask who answers.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
