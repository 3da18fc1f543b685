"""A program that runs for the time of a `with`, its output in a log that is shown when it ends too early."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paddlecloud.errors import PaddleCloudError

PATIENCE = 10.0
"""Seconds between asking a process to end and ending it."""


class Ended(PaddleCloudError):
    """A process that was meant to go on is gone; the message holds the end of its log."""


@dataclass(frozen=True)
class Process:
    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    def check(self) -> None:
        """Raise `Ended` if it no longer runs."""
        if (code := self.popen.poll()) is not None:
            raise Ended(f"{self.name} ended with code {code}; its log ends so:\n{tail(self.log)}")


@contextmanager
def running(
    program: Path, arguments: Sequence[str], folder: Path, environ: dict[str, str] | None = None
) -> Iterator[Process]:
    """Start *program* in *folder*; at the end of the `with` it is gone, whatever happened.

    Raises `Ended` at that end if the process had gone before.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = folder / "log"
    with log.open("wb") as out:
        popen = subprocess.Popen(
            [str(program), *arguments],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=end_with_parent(os.getpid()),
        )
    process = Process(program.name, popen, log)
    try:
        yield process
        process.check()
    finally:
        end(popen)


def end(popen: subprocess.Popen[bytes]) -> None:
    popen.terminate()
    try:
        popen.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()


def end_with_parent(parent: int) -> Callable[[], None]:
    """What the child does before it becomes the program: ask the kernel to end it when *parent* is gone."""
    libc = ctypes.CDLL(None, use_errno=True)
    set_death_signal = 1

    def ask() -> None:
        libc.prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it went before we asked
            os._exit(1)

    return ask


def tail(path: Path, lines: int = 25) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
