"""Runs pytest, and what failed beside other tests once more alone; a failure is what fails both times.

    python -m tests.again [PYTEST ARGUMENT…]

The tests start clusters, trainings and servers beside each other on two cores, and wait for them with limits.
A machine that stands still for seconds breaks such a limit and nothing else. What passes only alone is named
at the end, so that it can be looked into; many failures are no accident and are not tried again.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

MOST = 6
FAILED = 1
"""What pytest ends with when tests failed, and not something else."""
ALONE = ("--last-failed", "--last-failed-no-failures=none", "--numprocesses=0")


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="pdc-again-") as folder:
        command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={folder}", *arguments]
        code = subprocess.run(command).returncode
        failed = failures(Path(folder))
        if not worth_another_try(code, failed):
            return code
        print(f"once more, alone: {', '.join(failed)}", flush=True)
        again = subprocess.run([*command, *ALONE]).returncode
    if again == 0:
        print(f"passed only alone: {', '.join(failed)}", flush=True)
    return again


def worth_another_try(code: int, failed: Collection[str]) -> bool:
    return code == FAILED and 0 < len(failed) <= MOST


def failures(cache: Path) -> list[str]:
    """The names pytest has written down."""
    found = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(found.read_text())) if found.exists() else []


if __name__ == "__main__":
    # Who is told to end takes its pytest along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
