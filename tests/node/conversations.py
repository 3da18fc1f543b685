"""A node's own server around a yard of real pods, and a client that speaks to it as the API server does."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
from tests.node.pod_yard import Yard

from paddlecloud.embedded.node.kubelet import serving
from paddlecloud.embedded.node.sandbox.levels import Levels

V5 = "v5.channel.k8s.io"


class Conversations:
    def __init__(self, yard: Yard, session: aiohttp.ClientSession) -> None:
        self.yard, self.session = yard, session

    async def running(self, *command: str, name: str = "p", **spec: Any) -> None:
        """A pod that runs."""
        self.yard.run(*command, name=name, **spec)
        await self.yard.until(lambda: self.yard.now(name).status.get("phase") == "Running")

    def url(
        self, verb: str, query: Sequence[tuple[str, str]] = (), pod: str = "p", inside: str = "/main"
    ) -> str:
        return f"http://node/{verb}/d/{pod}{inside}?{urlencode(query)}"

    @asynccontextmanager
    async def talk(self, url: str, protocol: str = V5) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        async with (
            asyncio.timeout(30),
            self.session.ws_connect(url, protocols=[protocol] if protocol else []) as s,
        ):
            yield s

    async def run(self, *argv: str, stdin: bytes | None = None, tty: bool = False) -> tuple[int, str, str]:
        """Run a command to its end: its exit code and what it said."""
        wanted = {"stdin": stdin is not None, "stdout": True, "stderr": not tty, "tty": tty}
        query = [("command", word) for word in argv] + [
            (name, "true") for name, holds in wanted.items() if holds
        ]
        async with self.talk(self.url("exec", query)) as socket:
            speaking = asyncio.create_task(speak(socket, stdin))
            try:
                return await heard(socket)
            finally:
                await speaking


async def speak(socket: aiohttp.ClientWebSocketResponse, stdin: bytes | None) -> None:
    if stdin is not None:
        for start in range(0, len(stdin), 32768):
            await socket.send_bytes(b"\0" + stdin[start : start + 32768])
        await socket.send_bytes(b"\xff\0")


async def heard(socket: aiohttp.ClientWebSocketResponse) -> tuple[int, str, str]:
    """Everything up to the end, and the exit code that the last message tells."""
    said: dict[int, bytes] = {1: b"", 2: b"", 3: b""}
    async for message in socket:
        said[message.data[0]] += message.data[1:]
    return code_of(said[3]), said[1].decode(), said[2].decode()


def code_of(status: bytes) -> int:
    told = json.loads(status)
    if told["status"] == "Success":
        return 0
    assert told["reason"] == "NonZeroExitCode"
    [cause] = told["details"]["causes"]
    assert cause["reason"] == "ExitCode"
    return int(cause["message"])


@asynccontextmanager
async def conversations(root: Path, levels: Levels | None = None) -> AsyncIterator[Conversations]:
    yard = Yard(root, levels)
    path = yard.home.run / "node.sock"
    async with (
        serving(path, yard.roster, yard.shop),
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path), limit=0)) as session,
    ):
        try:
            yield Conversations(yard, session)
        finally:
            with contextlib.suppress(TimeoutError):
                await yard.close()
