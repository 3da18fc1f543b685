"""Processes of the tests end with their `with`, and with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kubernetes.processes import Ended, running
from tests.kubernetes.waiting import until

SH = Path("/bin/sh")


def test_a_process_is_gone_after_its_with(tmp_path: Path) -> None:
    with running(Path("/bin/sleep"), ["600"], tmp_path) as process:
        assert process.popen.poll() is None
    assert process.popen.returncode == -signal.SIGTERM


def test_a_process_that_ends_too_early_is_told_with_its_log(tmp_path: Path) -> None:
    with (
        pytest.raises(Ended, match=r"sh ended with code 7; its log ends so:\nno way"),
        running(SH, ["-c", "echo no way >&2; exit 7"], tmp_path) as process,
    ):
        process.popen.wait(10)


def test_the_failure_of_the_block_is_the_one_that_is_seen(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), running(Path("/bin/sleep"), ["600"], tmp_path) as process:
        _ = 1 / 0
    assert process.popen.returncode is not None


PARENT = """
import sys
from pathlib import Path
from tests.kubernetes.processes import running
with running(Path("/bin/sleep"), ["600"], Path(sys.argv[1])) as process:
    print(process.popen.pid, flush=True)
    sys.stdin.read()
"""


def test_a_process_does_not_outlive_a_parent_that_was_killed(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent.parent
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.kill()
    until(lambda: not alive(child), what="the end of the child", limit=10)


def alive(pid: int) -> bool:
    """Neither gone nor a zombie that waits for its new parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
