"""The standard streams of a container: opened by the shim, taken by the container's first process.

What the container says goes into its log and to those who are attached; what comes from them is its input, if
it wants any. With `tty` all three are one terminal, made inside the container. Only the standard library: it
runs in the shim. While the container is silent this costs nothing.
"""

from __future__ import annotations

import fcntl
import os
import termios

from .guests import STDERR, STDOUT, Guests, Input
from .lightly import socket
from .logfile import LogFile
from .receiving import received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .loop import Loop

PIECE = 64 * 1024
NAMES = {STDOUT: b"stdout", STDERR: b"stderr"}


class Streams:
    """Both ends of the container's three streams."""

    def __init__(self, order: dict[str, Any], loop: Loop) -> None:
        self._order, self._loop = order, loop
        self._log = LogFile()
        self._input = Input(loop, bool(order.get("stdinOnce")))
        self._guests = Guests(loop, self._input)
        self._ours: dict[int, int] = {}
        """Where the container's outputs come from, by the number of the output."""
        self._theirs: tuple[int, ...] = ()
        self._terminals: tuple[socket.socket, socket.socket] | None = None
        if order.get("tty"):
            self._terminals = socket.socketpair()
        else:
            self._open_pipes()

    def _open_pipes(self) -> None:
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        if self._order.get("stdin"):
            os.close(null)
            null, writing = os.pipe2(os.O_CLOEXEC)
            self._input.open(writing, terminal=False)
        theirs = [null]
        for number in (STDOUT, STDERR):
            reading, writing = os.pipe2(os.O_CLOEXEC)
            theirs.append(writing)
            self._ours[number] = reading
        self._theirs = tuple(theirs)

    def take(self) -> None:
        """In the child: become descriptors 0, 1 and 2."""
        theirs = self._theirs
        if self._terminals is not None:
            master, slave = os.openpty()
            own(slave, self._order)
            socket.send_fds(self._terminals[1], [b"t"], [master])
            os.close(master)
            theirs = (slave, slave, slave)
            self._order["env"].setdefault("TERM", "xterm")
        for number, end in enumerate(theirs):
            os.dup2(end, number)
        if self._terminals is not None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def release(self) -> None:
        """In the shim, once the child has them: hold the container's ends no longer, and listen to ours."""
        for end in self._theirs:
            os.close(end)
        if self._terminals is not None:
            self._terminals[1].close()
            self._loop.add(self._terminals[0].fileno(), lambda _: self._take_terminal())
        for number in list(self._ours):
            self._listen(number)

    def say(self, text: str) -> None:
        """In the shim: a line of our own among the container's."""
        self._log.write(NAMES[STDERR], text.encode() + b"\n")

    def finish(self) -> None:
        """In the shim, after the container and all its processes have ended: write down what is left."""
        if self._terminals is not None:
            self._take_terminal()
        for number in list(self._ours):
            while number in self._ours and self._read(number):
                pass
            self._close(number)
        self._input.close()
        self._guests.finish()

    def _take_terminal(self) -> None:
        """The other end of the terminal comes from the child; from one that fails, nothing."""
        assert self._terminals is not None
        receiving = self._terminals[0]
        self._terminals = None
        self._loop.remove(receiving.fileno())
        with receiving:
            receiving.setblocking(False)
            try:
                _, given = received(receiving, 1, 1)
            except OSError:
                given = []
        if given:
            self._ours[STDOUT] = given[0]
            if self._order.get("stdin"):
                self._input.open(fcntl.fcntl(given[0], fcntl.F_DUPFD_CLOEXEC, 3), terminal=True)
            self._listen(STDOUT)

    def _listen(self, number: int) -> None:
        os.set_blocking(self._ours[number], False)
        self._loop.add(self._ours[number], lambda _: self._hear(number))

    def _hear(self, number: int) -> None:
        self._read(number)

    def _read(self, number: int) -> bool:
        """Take what is there; whether there may be more right now."""
        try:
            data = os.read(self._ours[number], PIECE)
        except BlockingIOError:
            return False
        except OSError:
            # That is how a terminal says that nobody sits at it any more.
            data = b""
        if not data:
            self._close(number)
            return False
        self._log.write(NAMES[number], data)
        self._guests.tell(number, data)
        return True

    def _close(self, number: int) -> None:
        descriptor = self._ours.pop(number, -1)
        if descriptor >= 0:
            self._loop.remove(descriptor)
            os.close(descriptor)
            self._log.end(NAMES[number])


def own(terminal: int, order: dict[str, Any]) -> None:
    """A terminal belongs to who sits at it."""
    try:
        os.fchown(terminal, int((order.get("user") or {}).get("uid") or 0), -1)
    except OSError:
        # Not root: it has our own user, and so has the container.
        return


def open(order: dict[str, Any], loop: Loop) -> Streams:
    """The streams of one run; the current folder is the attempt's. What must be served goes on *loop*."""
    return Streams(order, loop)
