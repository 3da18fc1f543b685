"""A command that runs in a container besides its own, seen from the node.

The process belongs to the forked `execute`; we hold its streams and the connection that tells of its end.
Letting go of the connection ends the command: nothing runs on for a client that is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import socket
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import Failed
from . import descriptors
from .attachments import Send
from .attempts import content
from .launcher import Launcher
from .receiving import received
from .substitution import Paths

STDIN, STDOUT, STDERR = 0, 1, 2


@dataclass(frozen=True)
class Wish:
    argv: tuple[str, ...]
    stdin: bool = False
    stdout: bool = True
    stderr: bool = True
    tty: bool = False


@dataclass
class Command:
    """A running command: where its input goes, where its outputs come from."""

    outputs: dict[int, int]
    input: int | None = None
    terminal: int | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the command has ended: what it wrote is in the pipes by then."""
    code: int = 0

    async def pour(self, send: Send) -> None:
        """Send on what the command says, until it has ended and everything is said."""
        async with asyncio.TaskGroup() as tasks:
            for channel, descriptor in self.outputs.items():
                tasks.create_task(self._pump(channel, descriptor, send))
        await self.over.wait()

    async def _pump(self, channel: int, descriptor: int, send: Send) -> None:
        async for data in descriptors.pieces(descriptor, self.over):
            await send(channel, data)

    def resize(self, columns: int, rows: int) -> None:
        if self.terminal is not None:
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def write(self, data: bytes) -> None:
        """Input for the command; one that reads no more is no mistake."""
        if self.input is not None:
            try:
                await descriptors.write(self.input, data)
            except OSError:
                self.close_input()

    def close_input(self) -> None:
        if self.input is not None and self.input != self.terminal:
            os.close(self.input)
            self.input = None


@asynccontextmanager
async def started(launcher: Launcher, attempt: Path, wish: Wish) -> AsyncIterator[Command]:
    """Run *wish* in the container of *attempt*; leaving the context ends it. Raises `Failed`."""
    folder = attempt / "execs" / secrets.token_hex(8)
    folder.mkdir(parents=True, mode=0o700)
    try:
        real = content(attempt / "run.json").get("paths") or {}
        paths = Paths({path: Path(place) for path, place in real.items()})
        argv = [paths.apply(text) for text in wish.argv]
        (folder / "exec.json").write_text(json.dumps({"argv": argv, "tty": wish.tty}), encoding="utf-8")
        with contextlib.ExitStack() as stack:
            command, theirs = streams(wish, stack)
            try:
                connection = await launcher.connect()
                stack.callback(connection.close)
                socket.send_fds(connection, [b"exec " + os.fsencode(folder) + b"\n"], theirs)
            finally:
                for descriptor in set(theirs):
                    os.close(descriptor)
            await begun(connection, command, wish, stack)
            ending = asyncio.create_task(ended(connection, command))
            try:
                yield command
            finally:
                command.close_input()
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def streams(wish: Wish, stack: contextlib.ExitStack) -> tuple[Command, list[int]]:
    """Our ends and the command's; a stream that nobody wants is the null device."""
    if wish.tty:
        return Command({}), []
    command, theirs = Command({}), []
    for number, wanted in ((STDIN, wish.stdin), (STDOUT, wish.stdout), (STDERR, wish.stderr)):
        if not wanted:
            theirs.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
            continue
        reading, writing = os.pipe2(os.O_CLOEXEC)
        if number == STDIN:
            theirs.append(reading)
            command.input = writing
            stack.callback(command.close_input)
        else:
            theirs.append(writing)
            command.outputs[number] = reading
            stack.callback(os.close, reading)
        os.set_blocking(writing if number == STDIN else reading, False)
    return command, theirs


async def begun(connection: socket.socket, command: Command, wish: Wish, stack: contextlib.ExitStack) -> None:
    await descriptors.ready(connection.fileno(), "read")
    data, given = received(connection, 4096, 1)
    for descriptor in given:
        stack.callback(os.close, descriptor)
    first, _, rest = data.partition(b"\n")
    if first != b"started":
        why = first.decode(errors="replace").removeprefix("failed ")
        raise Failed(why or "the zygote went away while it started a command")
    if given:
        os.set_blocking(given[0], False)
        command.terminal, command.outputs = given[0], {STDOUT: given[0]}
        command.input = given[0] if wish.stdin else None
    if rest:
        conclude(rest, command)


async def ended(connection: socket.socket, command: Command) -> None:
    if command.over.is_set():
        return
    loop = asyncio.get_running_loop()
    conclude(await loop.sock_recv(connection, 4096), command)


def conclude(line: bytes, command: Command) -> None:
    word, _, code = line.decode(errors="replace").strip().partition(" ")
    # Killed together with whoever was to tell: as if killed.
    command.code = int(code) if word == "ended" else 137
    command.over.set()
