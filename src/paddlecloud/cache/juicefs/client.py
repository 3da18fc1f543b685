"""The JuiceFS client as a program: one call, watched until it ends, its complaint in a sentence.

What is secret reaches a call as variables of that process alone, never as an argument, and is taken out of
whatever the client says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import Failed

PROGRAM = "juicefs"
INHERITED = re.compile(
    r"PATH|HOME|LANG|TZ|TMPDIR|SSL_CERT_(FILE|DIR)|AWS_(CA_BUNDLE|REGION)|(HTTPS?|NO)_PROXY", re.IGNORECASE
)
LINE = re.compile(r"^\S+ \S+ juicefs\[\d+\] <(?P<level>[A-Z]+)>: (?P<words>.*?)(?: \[\w+@[\w.]+:\d+\])?$")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LOOK = 0.2
"""Seconds between two looks at a call under way."""
CHANCE = 2.0
"""Seconds a call that was told to end has before it is killed."""
Tick = Callable[[str], None]
"""Hears now and then what the client has said so far; what it raises ends the call."""
WAYS_OUT = (
    (r"NoSuchBucket|bucket does not exist", "create the bucket, or correct its address"),
    (
        r"SignatureDoesNotMatch|InvalidAccessKey|AccessDenied|Forbidden|StatusCode: 40[13]|NOAUTH|WRONGPASS",
        "correct the keys in the Secret",
    ),
    (r"no such host|refused|i/o timeout|no route|unreachable", "check the address and whether it answers"),
    (r"no space left|disk quota", "free space on the disk"),
    (r"/dev/fuse|fusermount|fuse: ", "allow FUSE on this machine, or set csi.driver: local"),
    # The kernel passes on no more than this of what a mount could not do.
    (r"input/output error", "see that the store of the file system answers and has room"),
)
COUNT = re.compile(r"failed to handle \d+ objects")


@dataclass(frozen=True)
class Call:
    """One run of the client."""

    arguments: tuple[str, ...]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the process."""
    patience: float | None = None
    """Seconds after which it is given up; None: it may take what it takes."""


class Client:
    """The program at *path*; every method may be called from any thread.

    What *check* raises ends the call under way.
    """

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self.path, self.check = path, check

    def run(self, *arguments: str, tick: Tick | None = None) -> str:
        """What the client says; see `carry_out`."""
        return self.carry_out(Call(arguments), tick)

    def carry_out(self, call: Call, tick: Tick | None = None) -> str:
        """Everything the client said. Raises `Failed` with its words when it does not end well.

        Whatever *tick* raises ends the process first.
        """

        def look() -> None:
            self.check()
            if tick is not None:
                tick(text_of(said.fileno(), call))

        # A file and not a pipe: a mount goes on in the background and would keep the pipe open.
        with tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    [str(self.path), *call.arguments], env=variables(call.secrets), cwd="/",
                    stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise Failed(f"the JuiceFS client {self.path} cannot be run: {error.strerror}") from error
            try:
                code = watched(process, look, call.patience)
            finally:
                end(process)
            words = text_of(said.fileno(), call)
        if code is None:
            what = f"juicefs {call.arguments[0]} was given up after {call.patience:.0f} s: {cause(words)}"
            raise Failed(what, next_step=way_out(words))
        if code:
            what = f"juicefs {call.arguments[0]} failed: {cause(words)}"
            raise Failed(what, next_step=way_out(words))
        return words


def installed() -> Client:
    """The client that came with this interpreter, else the one on the PATH. Raises `Failed` without one."""
    beside = Path(sys.executable).with_name(PROGRAM)
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise Failed(
            "the JuiceFS client is not installed here",
            next_step="use the image paddlecloud/data, which brings it",
        )
    return Client(Path(found))


def variables(secrets: Mapping[str, str]) -> dict[str, str]:
    """The environment of a call: of ours only what a program needs to find files and hosts."""
    return {name: value for name, value in os.environ.items() if INHERITED.fullmatch(name)} | dict(secrets)


def watched(
    process: subprocess.Popen[bytes], tick: Callable[[], object], patience: float | None
) -> int | None:
    """The exit code; None: it took too long."""
    until = time.monotonic() + patience if patience is not None else None
    pause = LOOK / 8
    while until is None or time.monotonic() < until:
        try:
            return process.wait(pause)
        except subprocess.TimeoutExpired:
            pause = min(LOOK, pause * 2)
            tick()
    return None


def end(process: subprocess.Popen[bytes]) -> None:
    """No such process afterwards."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(CHANCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def text_of(descriptor: int, call: Call) -> str:
    """What was written so far, without colours and secrets."""
    said = os.pread(descriptor, 1 << 20, max(0, os.fstat(descriptor).st_size - (1 << 20)))
    return scrubbed(COLOUR.sub("", said.decode(errors="replace")), call.secrets.values())


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """*text* without the *secrets*, longest first: one may be part of another."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "…")
    return text


def cause(text: str) -> str:
    """The complaint in what the client said: the last of the worst lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = [match for match in map(LINE.match, lines) if match]
    for level in ("FATAL", "ERROR", "WARNING"):
        words = [match["words"] for match in found if match["level"] == level]
        if words and COUNT.fullmatch(words[-1]):
            # How many is no cause: that of the last one stands above.
            errors = [match["words"] for match in found if match["level"] == "ERROR"]
            return ": ".join([words[-1], *errors[-1:]])
        if words:
            return words[-1]
    return lines[-1].strip() if lines else "it said nothing"


def way_out(text: str) -> str:
    """What helps against the complaint in *text*; empty where nothing is known."""
    return next((step for pattern, step in WAYS_OUT if re.search(pattern, text)), "")
