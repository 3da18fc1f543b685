"""The loop in which shims wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddlecloud.embedded.node import loop as module
from paddlecloud.embedded.node.loop import Loop


def test_what_arrives_at_a_descriptor_is_served_until_it_is_removed() -> None:
    reader, writer = os.pipe()
    loop, heard = Loop(), list[bytes]()
    loop.add(reader, lambda _: heard.append(os.read(reader, 3)))
    os.write(writer, b"onetwo")
    loop.run(lambda: len(heard) == 2)
    loop.remove(reader)
    loop.remove(reader)
    os.write(writer, b"lost")
    loop.drain(1.0)
    os.close(reader)
    os.close(writer)
    assert heard == [b"one", b"two"]


def test_a_timer_rings_again_and_again() -> None:
    loop, rings = Loop(), list[int]()
    loop.every(0.01, lambda: rings.append(1))
    loop.run(lambda: len(rings) == 3)


def test_draining_ends_although_more_keeps_coming() -> None:
    reader, writer = os.pipe()
    loop, heard = Loop(), list[bytes]()

    def echo(_: int) -> None:
        heard.append(os.read(reader, 1))
        os.write(writer, b"x")

    loop.add(reader, echo)
    os.write(writer, b"x")
    loop.drain(0.05)
    os.close(reader)
    os.close(writer)
    assert heard


SIGNALS = """
import os, signal, sys
from node.loop import Loop
loop, heard = Loop(), []
loop.on_signals({signal.SIGTERM, signal.SIGUSR1}, heard.append)
# Before anybody waits: they must not be lost.
os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGTERM)
loop.run(lambda: len(heard) == 2)
print(sorted(heard))
"""


@pytest.mark.parametrize("options", [("-S", "-I")])
def test_signals_sent_before_the_loop_runs_are_heard(options: tuple[str, ...]) -> None:
    embedded = Path(module.__file__).resolve().parents[1]
    code = f"import sys; sys.path.append({str(embedded)!r})\n{SIGNALS}"
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout == f"{sorted([int(signal.SIGUSR1), int(signal.SIGTERM)])}\n", done.stderr
