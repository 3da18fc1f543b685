"""HTTP to a registry and to whom it refers, with one rule: without encryption, only to this machine.

The rule holds for redirects and token servers too. A redirect to another host is followed without
credentials.
"""

from __future__ import annotations

import asyncio
import random
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from .failures import Damaged, NotPulled
from .names import local

MOST_REDIRECTS = 5
CONNECT_TRIES = 2
TRIES = 6
PIECE = 1 << 20
TIMES = aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=30.0)
PLAIN = {"Accept-Encoding": "identity"}
"""Digests are those of the bytes on the wire."""
REDIRECTS = (301, 302, 303, 307, 308)
BROKEN = (aiohttp.ClientError, TimeoutError)
"""What reading an answer may raise."""


@dataclass(frozen=True)
class Surroundings:
    """What comes from outside and a test may set."""

    luck: Callable[[], float] = random.random
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep
    proxies: Mapping[str, str] = field(default_factory=urllib.request.getproxies)


class Busy(Exception):
    """No answer, or one that says "later"; *advice* is its Retry-After."""

    def __init__(self, why: str, advice: str = "", tries: int = TRIES) -> None:
        super().__init__(why)
        self.advice = float(advice) if advice.isdecimal() else 0.0
        self.tries = tries


class Connection:
    """Use as `async with`."""

    def __init__(self, proxies: Mapping[str, str]) -> None:
        self._proxies = proxies
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Connection:
        self._session = aiohttp.ClientSession(timeout=TIMES, auto_decompress=False, headers=PLAIN)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session:
            await self._session.close()

    async def get(self, url: URL, headers: Mapping[str, str], authorization: str) -> aiohttp.ClientResponse:
        """The answer, its body unread, after redirects; raises `Busy` when there is none."""
        ours = url.origin()
        for _ in range(MOST_REDIRECTS):
            known = {"Authorization": authorization} if authorization and url.origin() == ours else {}
            answer = await self._send("GET", url, {**headers, **known}, None)
            if answer.status not in REDIRECTS or "Location" not in answer.headers:
                return answer
            answer.release()
            url = url.join(URL(answer.headers["Location"]))
        raise NotPulled(f"{ours} redirects more than {MOST_REDIRECTS} times")

    async def post(self, url: URL, form: Mapping[str, str]) -> aiohttp.ClientResponse:
        return await self._send("POST", url, {}, form)

    async def _send(
        self, method: str, url: URL, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> aiohttp.ClientResponse:
        assert self._session is not None
        if url.scheme != "https" and not (url.scheme == "http" and local(url.authority)):
            raise NotPulled(f"{url.origin()} is not encrypted; that is allowed on this machine only")
        try:
            return await self._session.request(
                method, url, headers=headers, data=form, allow_redirects=False, proxy=self._proxy(url)
            )
        except aiohttp.ClientConnectorError as error:
            raise Busy(said(error), tries=CONNECT_TRIES) from error
        except BROKEN as error:
            raise Busy(said(error)) from error

    def _proxy(self, url: URL) -> str | None:
        if local(url.authority) or urllib.request.proxy_bypass(url.host or ""):
            return None
        return self._proxies.get(url.scheme)


async def pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body in large pieces, each worth the way to the disk; what came before a break is not lost."""
    gathered = bytearray()
    try:
        async for chunk in answer.content.iter_any():
            gathered += chunk
            if len(gathered) >= PIECE:
                yield bytes(gathered)
                gathered.clear()
    except BROKEN:
        if gathered:
            yield bytes(gathered)
        raise
    if gathered:
        yield bytes(gathered)


async def limited(answer: aiohttp.ClientResponse, most: int, what: str) -> bytes:
    """All of the body; raises `Damaged` when it is larger than anything that makes sense."""
    content = bytearray()
    async for chunk in answer.content.iter_any():
        content += chunk
        if len(content) > most:
            raise Damaged(f"{what} has more than {most} bytes")
    return bytes(content)


def said(error: BaseException) -> str:
    return str(error) or type(error).__name__
