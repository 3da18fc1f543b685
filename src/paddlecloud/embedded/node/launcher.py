"""Starts container runs through the zygote, and the zygote when there is none.

The launcher owns no container: once `start` has returned, the run belongs to its shim.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from ...errors import Failed
from ...settings import Home
from . import sockets
from .zygote import SOCKET

WORDS = {
    "run": "the container",
    "hold": "the sandbox of the pod",
    "switch": "the network of the pods",
    "rewire": "the connection of the pod",
}
PATIENCE = 20.0
"""Seconds; a fork takes milliseconds, a loaded machine hundreds of them."""


class Launcher:
    def __init__(self, home: Home, user_namespace: bool = False) -> None:
        self._home = home
        self._user_namespace = user_namespace
        self._starting = asyncio.Lock()

    async def start(self, attempt: Path) -> None:
        """See that the attempt in this folder has been started, by this call or an earlier one."""
        await self.request("run", attempt)

    async def hold(self, pod: Path) -> None:
        """See that the pod in this folder has a holder, by this call or an earlier one."""
        await self.request("hold", pod)

    async def execute(self, attempt: Path, argv: Sequence[str], streams: Sequence[int]) -> int:
        """Run one more command in the container of *attempt*; returns its exit code.

        *streams* become its descriptors 0, 1 and 2 and stay open here. Cancelling kills the command.
        """
        folder = attempt / "execs" / secrets.token_hex(8)
        folder.mkdir(parents=True, mode=0o700)
        try:
            (folder / "exec.json").write_text(json.dumps({"argv": list(argv)}), encoding="utf-8")
            connection = await self.connect()
            # The descriptors travel with the first bytes, which a stream of asyncio cannot send.
            socket.send_fds(connection, [b"exec " + os.fsencode(folder) + b"\n"], list(streams))
            reader, writer = await asyncio.open_unix_connection(sock=connection)
            try:
                answers = [(await reader.readline()).decode().strip() for _ in ("started", "ended")]
            finally:
                writer.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if not answers[1].startswith("ended "):
            raise Failed(answers[0].removeprefix("failed ") or "the zygote went away while it ran a command")
        return int(answers[1].removeprefix("ended "))

    async def request(self, verb: str, folder: Path) -> None:
        """Have the zygote do *verb* with *folder*; raises `Failed` with what speaks against it."""
        what = WORDS[verb]
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await self._ask(verb, folder)
        except TimeoutError:
            raise Failed(
                f"the zygote did not start {what} within {PATIENCE:.0f} s",
                next_step=f"look into {self._home.logs / 'zygote.log'}",
            ) from None
        if answer not in ("started", "taken"):
            cause = answer.removeprefix("failed ") or "no answer"
            raise Failed(f"{what} could not be started: {cause}")

    async def _ask(self, verb: str, folder: Path) -> str:
        connection = await self.connect()
        try:
            # At once, before anything else has its turn: the zygote sends away who says nothing for long.
            connection.send(f"{verb} ".encode() + os.fsencode(folder) + b"\n")
        except ConnectionError as error:
            connection.close()
            raise Failed("the zygote went away while it started a container") from error
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        try:
            return (await reader.readline()).decode().strip()
        except ConnectionError as error:
            raise Failed("the zygote went away while it started a container") from error
        finally:
            writer.close()

    async def connect(self) -> socket.socket:
        """A connection to the zygote, which is started if there is none."""
        path = self._home.run / SOCKET
        async with self._starting:
            try:
                connection = sockets.connected(path)
            except (FileNotFoundError, ConnectionRefusedError):
                await start_zygote(self._home, self._user_namespace)
                try:
                    connection = sockets.connected(path)
                except OSError as error:
                    raise Failed(f"the zygote does not listen on {path}: {error.strerror}") from error
        return connection


async def start_zygote(home: Home, user_namespace: bool = False) -> None:
    """Start a zygote that outlives this process; one that runs already stays in charge."""
    where = ["user"] if user_namespace else []
    script = Path(__file__).with_name("zygote.py")
    log = os.open(home.logs / "zygote.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-I", str(script), str(home.run), *where,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=log,
            start_new_session=True, env={"LANG": "C.UTF-8", "PATH": os.defpath},
        )  # fmt: skip
    finally:
        os.close(log)
    assert process.stdout is not None
    try:
        first_line = await process.stdout.readline()
        await process.wait()
    finally:
        if process.returncode is None:
            # Whoever ends now ends the zygotes it knows of; one that begins later would stay.
            process.kill()
            await process.wait()
    if first_line != b"ready\n":
        raise Failed("the zygote ended at once", next_step=f"look into {home.logs / 'zygote.log'}")
