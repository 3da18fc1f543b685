"""Requests over HTTP with one pool of connections; what goes wrong is told with the host, never with keys."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError, NameResolutionError, NewConnectionError, ProtocolError, SSLError

from ...errors import Failed
from ..engine import Keys
from .source import CHUNK

PATIENCE = urllib3.Timeout(connect=5, read=60)
TRIES = urllib3.Retry(3, backoff_factor=0.2, raise_on_status=False, status_forcelist=(500, 502, 503, 504))


class Requests:
    """To one server; from many threads."""

    def __init__(self, url: str, threads: int = 64) -> None:
        parts = urlsplit(url)
        self.host = parts.netloc
        proxy = getproxies().get(parts.scheme)
        bypassed = proxy_bypass(parts.hostname or "")
        self._pool = (
            urllib3.ProxyManager(proxy, maxsize=threads, timeout=PATIENCE, retries=TRIES)
            if proxy and not bypassed
            else urllib3.PoolManager(maxsize=threads, timeout=PATIENCE, retries=TRIES)
        )

    def ask(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None = None
    ) -> urllib3.BaseHTTPResponse:
        """The whole answer, whatever its code."""
        with self._sentences():
            return self._pool.request(method, url, headers=headers, body=body)

    def chunks(self, url: str, headers: dict[str, str], status: int = 200) -> Iterator[bytes]:
        """The bytes of a GET. Raises `Failed` for an answer with another *status*."""
        with self._answer(url, headers, status) as answer:
            # Nothing is packed, by what was asked for: it need not go through one more buffer.
            while chunk := answer.read(CHUNK, decode_content=False):
                yield chunk

    def received(
        self, url: str, headers: dict[str, str], room: memoryview, status: int = 200
    ) -> Iterator[memoryview]:
        """The same, with each piece in *room* until the next is asked for."""
        with self._answer(url, headers, status) as answer:
            # The one beneath receives from the socket into the room; the upper makes an object and copies it.
            beneath = getattr(answer, "_fp", None)
            body = beneath if isinstance(beneath, HTTPResponse) else answer
            while got := body.readinto(room):
                yield room[:got]

    @contextmanager
    def _answer(self, url: str, headers: dict[str, str], status: int) -> Iterator[urllib3.BaseHTTPResponse]:
        with self._sentences():
            answer = self._pool.request(
                "GET", url, headers={"Accept-Encoding": "identity", **headers}, preload_content=False
            )
            try:
                if answer.status != status:
                    raise refused(self.host, answer.status, urlsplit(url).path)
                yield answer
            finally:
                answer.release_conn()

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except HTTPError as error:
            raise Failed(
                f"{self.host} cannot be reached: {cause(error)}", next_step="check the host"
            ) from error
        except (OSError, HTTPException) as error:
            said = getattr(error, "strerror", "") or str(error) or type(error).__name__
            raise Failed(f"the connection to {self.host} broke: {said}") from error


def cause(error: BaseException) -> str:
    """What is at the bottom of an error of the pool, in a few words."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, BaseException):
        return cause(inner)
    if isinstance(error, NameResolutionError):
        return "no such host"
    if isinstance(error, NewConnectionError):
        return str(error).rpartition("] ")[2] or "no connection"
    if isinstance(error, SSLError):
        return f"TLS failed ({error}); set `no-https` for a server without it"
    if isinstance(error, ProtocolError) and isinstance(error.args[-1], OSError):
        return error.args[-1].strerror or "the connection broke"
    return str(error) or type(error).__name__


def refused(host: str, status: int, what: str) -> Failed:
    if status in (401, 403):
        return Failed(
            f"{host} refuses {what} with these keys ({status})",
            next_step="check access-key and secret-key in the Secret of the source",
        )
    if status == 404:
        return Failed(f"{host} has no {what} (404)", next_step="put the samples there, or correct source.uri")
    if status == 412:
        return Failed(f"{what} was changed at {host} while it was read", next_step="it is read again")
    return Failed(f"{host} answered {status} for {what}")


def basic(keys: Keys | None) -> dict[str, str]:
    if keys is None or not (keys.access or keys.secret):
        return {}
    said = base64.b64encode(f"{keys.access}:{keys.secret}".encode()).decode()
    return {"Authorization": f"Basic {said}"}
