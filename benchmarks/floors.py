"""The same programs without us: what the kernel alone takes on this machine, at this moment."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence

from benchmarks.podwork import ONCE

APART = ("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc")
"""What comes nearest to a sandbox among the tools that every machine has; no root of its own, no limits."""


def first_lines(rounds: int, apart: bool) -> list[float]:
    """Milliseconds to the first line of a program, in namespaces of its own if *apart*."""
    return [timed((*(APART if apart else ()), *ONCE)) for _ in range(rounds)]


def commands(rounds: int, pid: int) -> list[float]:
    """Milliseconds that `true` takes in the namespaces of process *pid*; 0: in ours."""
    inside = ("nsenter", "--target", str(pid), "--mount", "--uts", "--ipc", "--pid") if pid else ()
    return [timed((*inside, "true")) for _ in range(rounds)]


def timed(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return (time.perf_counter() - began) * 1000
