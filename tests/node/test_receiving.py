"""What is handed over a socket stays with the process that took it."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import uvloop

from paddlecloud.embedded.node.launcher import start_zygote
from paddlecloud.embedded.node.receiving import received
from paddlecloud.settings import Home


def test_descriptors_that_were_received_are_not_inherited() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.socket() as one, socket.socket() as other:
        socket.send_fds(theirs, [b"two"], [one.fileno(), other.fileno()])
        data, given = received(ours, 16, 8)

        assert data == b"two" and len(given) == 2
        assert not any(os.get_inheritable(fd) for fd in given)
        for fd in given:
            os.close(fd)


def test_a_zygote_holds_no_conversation_of_its_starter(tmp_path: Path) -> None:
    """The loop of the node closes nothing in what it starts."""
    home = Home(tmp_path / "h")
    home.make()

    async def held() -> bytes:
        ours, theirs = socket.socketpair()
        with ours:
            os.set_inheritable(theirs.fileno(), True)
            with theirs:
                await start_zygote(home)
            ours.settimeout(10)
            return ours.recv(1)

    try:
        assert uvloop.run(held()) == b""
    finally:
        os.kill(int((home.run / "zygote.lock").read_text()), signal.SIGKILL)
