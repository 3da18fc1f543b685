"""How a supervisor ends its processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paddlecloud.embedded.supervisor import Child, stop

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
