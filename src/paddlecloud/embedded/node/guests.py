"""Those who are attached to a container: they hear what it says, and one may speak to it.

A message on the socket `attach.sock` is a byte that names its kind, four of its length, and itself. A guest
that does not listen is sent away rather than waited for: the container goes on. A container that does not
read is waited for by who speaks. Only the standard library: it runs in the shim.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios

from .lightly import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .loop import Loop

SOCKET = "attach.sock"
HEAD = struct.Struct("!BI")
STDIN, STDOUT, STDERR, SPEAKS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
"""SPEAKS is what a guest says first that brings the input."""
PIECE = 32 * 1024
MOST_WAITING = 1024 * 1024
LAST_WORDS = 2.0
"""Seconds a guest has to take what is left when the container has ended."""


class Input:
    """The container's standard input; closed it takes everything and keeps nothing."""

    def __init__(self, loop: Loop, once: bool) -> None:
        self.full = False
        self.drained: Callable[[], None] = lambda: None
        self._loop, self._once = loop, once
        self._end, self._terminal = -1, False
        self._waiting = b""

    def open(self, end: int, terminal: bool) -> None:
        os.set_blocking(end, False)
        self._end, self._terminal = end, terminal

    def feed(self, data: bytes) -> None:
        if self._end >= 0:
            self._waiting += data
            self._flush()

    def resize(self, columns: int, rows: int) -> None:
        if self._terminal:
            fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def spoken(self) -> None:
        """Who spoke has nothing more to say; where only one may speak, that was all."""
        if self._once and not self._terminal:
            self.close()

    def close(self) -> None:
        if self._end >= 0:
            self._loop.remove(self._end)
            os.close(self._end)
            self._end, self._waiting, self.full = -1, b"", False

    def _flush(self) -> None:
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self._end, self._waiting) :]
        except BlockingIOError:
            if not self.full:
                self.full = True
                self._loop.add(self._end, lambda _: self._flush(), select.POLLOUT)
            return
        except OSError:
            self._waiting = b""
        if self.full:
            self.full = False
            self._loop.remove(self._end)
            self.drained()


class Guest:
    def __init__(self, connection: socket.socket, loop: Loop, source: Input) -> None:
        connection.setblocking(False)
        self.connection, self._loop, self._input = connection, loop, source
        self.gone = self._speaks = False
        self._heard, self._unsaid = b"", b""
        self.look()

    def look(self) -> None:
        """Wait for what can be done now: no input is taken while the container does not read."""
        wanted = (0 if self._input.full else select.POLLIN) | (select.POLLOUT if self._unsaid else 0)
        self._loop.add(self.connection.fileno(), self._ready, wanted)

    def tell(self, kind: int, data: bytes) -> None:
        self._unsaid += HEAD.pack(kind, len(data)) + data
        self._send()
        if len(self._unsaid) > MOST_WAITING:
            self.leave()

    def finish(self) -> None:
        """Say what is left, and farewell."""
        if not self.gone:
            self.connection.settimeout(LAST_WORDS)
            try:
                self.connection.sendall(self._unsaid)
            except OSError:
                self._unsaid = b""
            self.leave()

    def leave(self) -> None:
        if not self.gone:
            self.gone = True
            self._loop.remove(self.connection.fileno())
            self.connection.close()
            if self._speaks:
                self._input.spoken()

    def _ready(self, events: int) -> None:
        if events & select.POLLOUT:
            self._send()
        if events & select.POLLIN:
            self._receive()
        elif events & (select.POLLHUP | select.POLLERR):
            self.leave()

    def _send(self) -> None:
        try:
            while self._unsaid and not self.gone:
                self._unsaid = self._unsaid[self.connection.send(self._unsaid) :]
        except BlockingIOError:
            pass
        except OSError:
            self.leave()
        if not self.gone:
            self.look()

    def _receive(self) -> None:
        try:
            data = self.connection.recv(PIECE)
        except OSError:
            data = b""
        if not data:
            self.leave()
            return
        self._heard += data
        while len(self._heard) >= HEAD.size:
            kind, size = HEAD.unpack_from(self._heard)
            if len(self._heard) < HEAD.size + size:
                break
            message, self._heard = self._heard[HEAD.size : HEAD.size + size], self._heard[HEAD.size + size :]
            self._take(kind, message)
        self.look()

    def _take(self, kind: int, message: bytes) -> None:
        if kind == SPEAKS:
            self._speaks = True
        elif kind == STDIN:
            self._input.feed(message)
        elif kind == RESIZE:
            columns, _, rows = message.partition(b" ")
            self._input.resize(int(columns), int(rows))
        elif kind == CLOSE:
            self._input.spoken()


class Guests:
    """All who are attached; the current folder is the attempt's."""

    def __init__(self, loop: Loop, source: Input) -> None:
        self._loop, self._input = loop, source
        self._present: list[Guest] = []
        source.drained = self._look
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._door.bind(SOCKET)
        os.chmod(SOCKET, 0o600)
        self._door.listen(16)
        self._door.setblocking(False)
        loop.add(self._door.fileno(), lambda _: self._welcome())

    def tell(self, kind: int, data: bytes) -> None:
        for guest in self._present:
            guest.tell(kind, data)
        self._present = [guest for guest in self._present if not guest.gone]

    def finish(self) -> None:
        self._loop.remove(self._door.fileno())
        self._door.close()
        os.unlink(SOCKET)
        for guest in self._present:
            guest.finish()

    def _welcome(self) -> None:
        try:
            connection, _ = self._door.accept()
        except OSError:
            return
        self._present = [guest for guest in self._present if not guest.gone]
        self._present.append(Guest(connection, self._loop, self._input))

    def _look(self) -> None:
        for guest in self._present:
            if not guest.gone:
                guest.look()
