"""How a supervisor ends its processes, and that a dead one is known as such."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from paddlecloud.embedded.identity import supervisor_of
from paddlecloud.embedded.supervisor import Child, stop
from paddlecloud.settings import Home

OBEDIENT = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print("here", flush=True)
signal.sigwait([signal.SIGTERM])
open(sys.argv[1], "a").write(sys.argv[2] + "\\n")
"""


async def nothing() -> None:
    return


def test_all_are_asked_to_end_before_any_is_killed_and_the_api_is_asked_last(tmp_path: Path) -> None:
    said = tmp_path / "said"
    started = {
        name: subprocess.Popen([sys.executable, "-c", OBEDIENT, said, name], stdout=subprocess.PIPE)
        for name in ("api", "node", "controllers", "gateway")
    }
    try:
        for process in started.values():
            assert process.stdout is not None and process.stdout.readline() == b"here\n"
            process.stdout.close()
        stop([Child(name, nothing, pid=process.pid) for name, process in started.items()])
        lines = said.read_text().split()
        assert sorted(lines) == sorted(started) and lines[-1] == "api"
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def test_who_was_killed_is_no_supervisor_though_nobody_buried_it_and_its_orphans_hold_the_lock(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    home.make()
    handle = os.open(home.lock, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with subprocess.Popen(["sleep", "600"]) as supervisor:
        (home.run / "supervisor.pid").write_text(str(supervisor.pid))
        assert supervisor_of(home) == supervisor.pid
        supervisor.kill()
        os.waitid(os.P_PID, supervisor.pid, os.WEXITED | os.WNOWAIT)
        assert supervisor_of(home) == 0
    os.close(handle)
