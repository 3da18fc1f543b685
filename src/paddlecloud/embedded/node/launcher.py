"""Starts container runs through the zygote, and the zygote when there is none.

The launcher owns no container: once `start` has returned, the run belongs to its shim.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from ...errors import Failed
from ...settings import Home
from . import sockets
from .zygote import SOCKET

PATIENCE = 20.0
"""Seconds; a fork takes milliseconds, a loaded machine hundreds of them."""


class Launcher:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._starting = asyncio.Lock()

    async def start(self, attempt: Path) -> None:
        """See that the attempt in this folder has been started, by this call or an earlier one."""
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await self._ask(attempt)
        except TimeoutError:
            raise Failed(
                f"the zygote did not start {attempt.name} within {PATIENCE:.0f} s",
                next_step=f"look into {self._home.logs / 'zygote.log'}",
            ) from None
        if answer not in ("started", "taken"):
            cause = answer.removeprefix("failed ") or "no answer"
            raise Failed(f"the container could not be started: {cause}")

    async def _ask(self, attempt: Path) -> str:
        reader, writer = await self._connect()
        try:
            writer.write(os.fsencode(attempt) + b"\n")
            await writer.drain()
            return (await reader.readline()).decode().strip()
        except ConnectionError as error:
            raise Failed("the zygote went away while it started a container") from error
        finally:
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        path = self._home.run / SOCKET
        async with self._starting:
            try:
                connection = sockets.connected(path)
            except (FileNotFoundError, ConnectionRefusedError):
                await start_zygote(self._home)
                try:
                    connection = sockets.connected(path)
                except OSError as error:
                    raise Failed(f"the zygote does not listen on {path}: {error.strerror}") from error
        return await asyncio.open_unix_connection(sock=connection)


async def start_zygote(home: Home) -> None:
    """Start a zygote that outlives this process; one that runs already stays in charge."""
    script = Path(__file__).with_name("zygote.py")
    log = os.open(home.logs / "zygote.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-I", str(script), str(home.run),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=log,
            start_new_session=True, env={"LANG": "C.UTF-8", "PATH": os.defpath},
        )  # fmt: skip
    finally:
        os.close(log)
    assert process.stdout is not None
    first_line = await process.stdout.readline()
    await process.wait()
    if first_line != b"ready\n":
        raise Failed("the zygote ended at once", next_step=f"look into {home.logs / 'zygote.log'}")
