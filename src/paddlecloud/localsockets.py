"""Unix sockets at paths of any length, and ports of this machine.

The kernel allows 107 bytes for the name of a unix socket, and a home may lie deeper. A socket is therefore
named relative to an open descriptor of its folder.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import Failed


def listening(path: Path, waiting: int = 128) -> socket.socket:
    """A socket that listens at *path*, closed to other users; what a dead process left there goes.

    So many connections may be *waiting* to be accepted.
    """
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with short_name(path) as name:
        listener.bind(name)
    path.chmod(0o600)
    listener.listen(waiting)
    listener.setblocking(False)
    return listener


def on_port(port: int, host: str = "127.0.0.1", waiting: int = 1024) -> socket.socket:
    """A socket that listens on *port* (0: any free one); raises `Failed` when it is somebody else's."""
    try:
        listener = socket.create_server((host, port), backlog=waiting)
    except OSError as error:
        raise Failed(
            f"nothing can listen on {host}:{port}: {error.strerror}",
            next_step="end what uses the port, or choose another one",
        ) from error
    listener.setblocking(False)
    return listener


def connected(path: Path) -> socket.socket:
    """A connection to *path*; raises what `connect` raises. Local, so it does not wait."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_name(path) as name:
            connection.connect(name)
    except BaseException:
        connection.close()
        raise
    connection.setblocking(False)
    return connection


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield name_in(folder, path.name)
    finally:
        os.close(folder)


def name_in(folder: int, name: str) -> str:
    """A name for what is in the folder behind the descriptor, as long as that is open."""
    return f"/proc/self/fd/{folder}/{name}"
