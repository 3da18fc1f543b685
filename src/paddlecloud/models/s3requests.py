"""Signed requests to one S3 server, with the standard library alone: suites that serve models have no more.

A request that can be repeated is, while the server is away for a moment; what goes wrong is told with the
host, never with keys.
"""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import urlsplit
from xml.etree import ElementTree

from ..errors import Failed
from ..signing import EMPTY, Keys, signed

PATIENCE = 60.0
PAUSES = (0.2, 1.0)
"""Seconds before each further try."""


Dial = Callable[[], socket.socket]
"""Connects with the server from where its name leads nowhere."""


class Body(NamedTuple):
    content: bytes
    sha256: str


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    """By lower-case names."""
    body: bytes

    @property
    def code(self) -> str:
        """S3's own word for what is wrong; empty for a success."""
        found = re.search(rb"<Code>(\w+)</Code>", self.body) if self.status >= 400 else None
        return found[1].decode() if found else ""

    def xml(self) -> ElementTree.Element:
        """The body without the namespace, which servers spell differently."""
        try:
            return ElementTree.fromstring(re.sub(rb'\sxmlns="[^"]*"', b"", self.body, count=1))
        except ElementTree.ParseError as error:
            raise Failed(f"the model store does not answer as an S3 server: {error}") from error


class Requests:
    def __init__(
        self,
        endpoint: str,
        region: str,
        keys: Keys | None,
        pause: Callable[[float], None] = time.sleep,
        dial: Dial | None = None,
    ) -> None:
        self.endpoint, self.region = endpoint, region
        self._keys, self._pause, self._dial = keys, pause, dial
        self._line: http.client.HTTPConnection | None = None

    def ask(self, method: str, url: str, body: Body | None = None) -> Answer:
        """The whole answer, whatever its code. Raises `Failed` when the server cannot be reached."""
        for pause in (*PAUSES, None):
            try:
                if self._line is None:
                    self._line = self._connect()
                answer = self._send(self._line, method, url, body)
                found = Answer(answer.status, named(answer), answer.read())
                if found.status < 500 or pause is None:
                    return found
            except (OSError, http.client.HTTPException) as error:
                self._hang_up()
                if pause is None:
                    raise self._away(error) from error
            self._pause(pause)
        raise AssertionError("the last try returns or raises")

    def stream(self, url: str) -> BinaryIO | None:
        """The bytes of an object on a connection of their own; None where there is no such object."""
        line = self._connect()
        try:
            # The answer then owns the connection, and ends it when it is closed.
            answer = self._send(line, "GET", url, None, {"Connection": "close"})
        except (OSError, http.client.HTTPException) as error:
            line.close()
            raise self._away(error) from error
        if answer.status == 200:
            return cast(BinaryIO, answer)
        said = Answer(answer.status, named(answer), answer.read())
        line.close()
        if said.status == 404:
            return None
        raise Failed(f"the model store at {self.endpoint} answers {said.code or said.status}")

    def _send(
        self,
        line: http.client.HTTPConnection,
        method: str,
        url: str,
        body: Body | None,
        more: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        parts = urlsplit(url)
        content = body.sha256 if body else EMPTY
        headers = {}
        if self._keys:
            headers = signed(method, url, self._keys, self.region, datetime.now(UTC), content=content)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        line.request(method, target, body=body.content if body else None, headers={**headers, **(more or {})})
        return line.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.endpoint)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        line = kind(parts.netloc, timeout=PATIENCE)
        if self._dial is not None:
            line.sock = self._dial()
            line.sock.settimeout(PATIENCE)
            if parts.scheme == "https":
                trust = ssl.create_default_context()
                line.sock = trust.wrap_socket(line.sock, server_hostname=parts.hostname)
        return line

    def __del__(self) -> None:
        # A store is used for as long as somebody holds it, and has no other end.
        self._hang_up()

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _away(self, error: Exception) -> Failed:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
        return Failed(
            f"the model store at {self.endpoint} cannot be reached: {why}",
            next_step="start it, or say in the ConfigMap hub of namespace paddlecloud where it is",
        )


def named(answer: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.getheaders()}
