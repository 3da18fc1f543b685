"""Requests that no client library would send: bytes over TLS, and whatever comes back."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.kubernetes.rest import JSON, Answer, Rest

PATIENCE = 20.0
"""Seconds without a byte after which an answer counts as missing."""


@dataclass(frozen=True)
class Wire:
    """One connection; what is written goes out as it is."""

    socket: ssl.SSLSocket

    def send(self, content: bytes) -> None:
        self.socket.sendall(content)

    def begin(self, method: str, path: str, headers: Mapping[str, str], sent: bytes = b"") -> None:
        """A request whose path is not looked at, and as much of its body as *sent* holds."""
        given = {"Host": "localhost", "Accept": JSON, "Content-Type": JSON, **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self.send(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + sent)

    def answer(self, method: str = "GET") -> Answer:
        """Raises `http.client.BadStatusLine` when the server hung up instead."""
        response = http.client.HTTPResponse(self.socket, method=method)
        response.begin()
        return Answer(response.status, dict(response.headers), response.read().decode())

    def ended(self) -> bool:
        """Whether the server hangs up before anything else comes."""
        try:
            return self.socket.recv(1) == b""
        except (ConnectionError, ssl.SSLEOFError):
            return True


@contextmanager
def connected(rest: Rest, receive_buffer: int = 0) -> Iterator[Wire]:
    """A connection as the owner of the cluster; *receive_buffer* bounds what the kernel takes for us."""
    context = ssl.create_default_context(cadata=rest.ca)
    if rest.certificate:
        context.load_cert_chain(rest.certificate)
    where = urlsplit(rest.server)
    plain = socket.socket()
    try:
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(PATIENCE)
        plain.connect((where.hostname, where.port))
        with context.wrap_socket(plain, server_hostname=where.hostname) as encrypted:
            yield Wire(encrypted)
    finally:
        plain.close()


def bearer(rest: Rest) -> dict[str, str]:
    return {"Authorization": f"Bearer {rest.token}"} if rest.token else {}


def asked(rest: Rest, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
    """One request on a connection of its own, its path sent as it is written."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with connected(rest) as wire:
        wire.begin(method, path, {**bearer(rest), "Content-Length": str(len(body)), **named}, body)
        return wire.answer(method)
