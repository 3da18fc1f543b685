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

from ... import localsockets, log
from ...errors import Failed
from ...settings import Home
from . import warmstarts
from .warmstarts import Warmth
from .zygote import SOCKET

WORDS = {
    "run": "the container",
    "hold": "the sandbox of the pod",
    "switch": "the network of the pods",
    "rewire": "the connection of the pod",
}
# As a module, whose compiled form is kept: what a compiler leaves behind would be in every shim. Its folder
# comes last: nothing there may stand in the way of the standard library.
START = (
    f"import sys; sys.path.append(sys.argv[1]); from {Path(__file__).parent.name}.zygote import main; "
    "sys.exit(main(*sys.argv[2:5]))"
)
"""The program of a zygote, by which it is also known."""
PATIENCE = 20.0
"""Seconds; a fork takes milliseconds, a loaded machine hundreds of them."""


WARMING = 120.0
"""Seconds for a zygote to import what it is to have: Paddle takes many on a loaded machine."""


class Launcher:
    def __init__(self, home: Home, user_namespace: bool = False) -> None:
        self._home = home
        self._user_namespace = user_namespace
        self._starting = asyncio.Lock()
        self._warming: dict[str, asyncio.Lock] = {}

    async def start(self, attempt: Path, warmth: Warmth | None = None) -> None:
        """See that the attempt in this folder has been started, by this call or an earlier one.

        With *warmth* by a zygote that has it, which is started if there is none; if that fails, without.
        """
        if warmth is not None:
            try:
                await self._start_warm(attempt, warmth)
                return
            except (Failed, TimeoutError, OSError) as error:
                log.logger("node").warning("a container starts cold: %s", error)
        await self.request("run", attempt)

    async def _start_warm(self, attempt: Path, warmth: Warmth) -> None:
        async with asyncio.timeout(WARMING):
            async with self._warming.setdefault(warmth.name, asyncio.Lock()):
                path = self._home.run / f"{warmth.name}.sock"
                try:
                    connection = localsockets.connected(path)
                except (FileNotFoundError, ConnectionRefusedError):
                    await asyncio.to_thread(warmstarts.write, warmth, self._home.run)
                    await start_zygote(self._home, self._user_namespace, warmth)
                    connection = localsockets.connected(path)
            answer = await self._asked(connection, "run", attempt)
        if answer not in ("started", "taken"):
            raise Failed(answer.removeprefix("failed ") or "no answer of the warm zygote")

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
        return await self._asked(await self.connect(), verb, folder)

    async def _asked(self, connection: socket.socket, verb: str, folder: Path) -> str:
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
                connection = localsockets.connected(path)
            except (FileNotFoundError, ConnectionRefusedError):
                await start_zygote(self._home, self._user_namespace)
                try:
                    connection = localsockets.connected(path)
                except OSError as error:
                    raise Failed(f"the zygote does not listen on {path}: {error.strerror}") from error
        return connection


async def start_zygote(home: Home, user_namespace: bool = False, warmth: Warmth | None = None) -> None:
    """Start a zygote that outlives this process; one that runs already stays in charge."""
    package = Path(__file__).parent
    program, environ = [sys.executable, "-S", "-I"], {"LANG": "C.UTF-8", "PATH": os.defpath}
    words = [str(package.parent), str(home.run), "user" if user_namespace else "-"]
    if warmth is not None:
        program, environ = [str(warmth.python), "-I"], environ | dict(warmth.environ)
        words.append(warmth.name)
    log = os.open(home.logs / "zygote.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = await asyncio.create_subprocess_exec(
            *program, "-c", START, *words,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=log,
            start_new_session=True, env=environ,
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
