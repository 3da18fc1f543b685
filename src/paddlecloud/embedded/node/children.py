"""Children of the small processes around containers: their first steps, and how they ended.

A child that is to become somebody's command inherits nothing of ours that the command could notice. Only the
standard library: it runs in processes forked by the zygote.
"""

from __future__ import annotations

import os

from .lightly import signal


def begin_anew() -> None:
    """In the child: a session, signals and a mask of file modes as a command expects to find them."""
    os.setsid()
    # Whoever started us may ignore some (nohup does, and shells for what runs in the background).
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)


def reaped() -> dict[int, int]:
    """Those of our children that have ended since the last look: exit codes, negative for signals."""
    ends: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ends
        if pid == 0:
            return ends
        ends[pid] = os.waitstatus_to_exitcode(status)
