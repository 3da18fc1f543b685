"""What is handed over a socket stays with the process that took it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from paddlecloud.embedded.node import launcher
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
    """The loop of the node closes nothing in what it starts: what can be inherited is."""
    home = Home(tmp_path / "h")
    home.make()
    ours, theirs = socket.socketpair()
    words = [str(Path(launcher.__file__).parent.parent), str(home.run), "-"]
    with ours:
        with theirs:
            subprocess.run(
                [sys.executable, "-S", "-I", "-c", launcher.START, *words],
                pass_fds=[theirs.fileno()],
                stdout=subprocess.PIPE,
                timeout=60,
                check=True,
            )
        try:
            ours.settimeout(10)
            assert ours.recv(1) == b""
        finally:
            os.kill(int((home.run / "zygote.lock").read_text()), signal.SIGKILL)
