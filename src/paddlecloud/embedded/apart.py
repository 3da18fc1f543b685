"""A function in a process of its own, for what is done once: what it imports and touches is gone afterwards.

The process does not outlive the one that waits for it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..errors import Failed

PR_SET_PDEATHSIG = 1
R = TypeVar("R")


@contextmanager
def apart(function: Callable[[], R]) -> Iterator[Callable[[], R]]:
    """Begin *function* there; inside the block, the call returns what it returns or raises what it raises.

    Both must be such that they can be sent. The process ends with the block.
    """
    ours, theirs = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        try:
            end_with(parent)
            report(function, theirs)
        finally:
            os._exit(0)
    os.close(theirs)

    def answered() -> R:
        with open(ours, "rb", closefd=False) as answer:
            said = answer.read()
        if not said:
            raise Failed("a process that was to prepare the start ended and said nothing")
        good, result = pickle.loads(said)
        if not good:
            raise result
        returned: R = result
        return returned

    try:
        yield answered
    finally:
        os.close(ours)
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


def end_with(parent: int) -> None:
    """End when *parent* ends, even if it just did."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def report(function: Callable[[], object], to: int) -> None:
    try:
        said = pickle.dumps((True, function()))
    except BaseException as error:
        said = pickle.dumps((False, error))
    with open(to, "wb") as answer:
        answer.write(said)
