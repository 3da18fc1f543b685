"""`pdc exec`: a command, or a terminal, in a container."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import termios
import threading
import tty
from collections.abc import AsyncIterator, Callable, Iterator

import click

from ..api.meta import Key
from ..cluster.kubeconfig import Access
from ..cluster.remotecommands import Ends, RemoteCommand, run
from ..errors import WrongUse
from .context import Settings, namespace_option, pass_settings
from .podpicking import pods_meant

PIECE = 32 * 1024


@click.command("exec")
@click.option("-i", "--stdin", is_flag=True, help="Pass our input to the command.")
@click.option("-t", "--tty", "terminal", is_flag=True, help="Give the command a terminal.")
@click.option("-c", "--container", default="", help="Which container of the pod.")
@namespace_option
@click.argument("target")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@pass_settings
def execute(
    settings: Settings, stdin: bool, terminal: bool, container: str, namespace: str, target: str,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    """Run a command in a container: `pdc exec -it POD -- sh`, or in the first pod of `KIND/NAME`."""
    if not command:
        raise WrongUse("you must specify at least one command for the container: pdc exec POD -- COMMAND")
    with settings.connect() as client:
        pod = pods_meant(client, target, namespace)[0]
    wanted = RemoteCommand(Key(namespace, pod), command, container, terminal and sys.stdin.isatty())
    sys.exit(asyncio.run(talk(settings.access(), wanted, stdin)))


async def talk(access: Access, command: RemoteCommand, stdin: bool) -> int:
    sizes: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
    source = typed(asyncio.get_running_loop()) if stdin else None
    ends = Ends(writing(sys.stdout.fileno()), writing(sys.stderr.fileno()), source, sizes)
    with raw_terminal(sizes) if command.tty else contextlib.nullcontext():
        return await run(access, command, ends)


def writing(descriptor: int) -> Callable[[bytes], object]:
    def write(data: bytes) -> None:
        while data:
            data = data[os.write(descriptor, data) :]

    return write


@contextlib.contextmanager
def raw_terminal(sizes: asyncio.Queue[tuple[int, int]]) -> Iterator[None]:
    """Our terminal passes on every key as it is, and tells its size whenever that changes."""
    before = termios.tcgetattr(0)
    loop = asyncio.get_running_loop()

    def tell() -> None:
        sizes.put_nowait(shutil.get_terminal_size())

    loop.add_signal_handler(signal.SIGWINCH, tell)
    tell()
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        loop.remove_signal_handler(signal.SIGWINCH)


async def typed(loop: asyncio.AbstractEventLoop) -> AsyncIterator[bytes]:
    """What comes on our input. A thread reads it: files and terminals cannot be waited for alike."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue(1)

    def read() -> None:
        # The loop may be gone while we wait for somebody to type.
        with contextlib.suppress(RuntimeError, OSError):
            while True:
                data = os.read(0, PIECE)
                asyncio.run_coroutine_threadsafe(pieces.put(data), loop).result()
                if not data:
                    return

    threading.Thread(target=read, daemon=True).start()
    while data := await pieces.get():
        yield data
