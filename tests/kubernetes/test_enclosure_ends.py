"""What happens in an enclosure ends with it, however it ends."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.kubernetes import enclosure
from tests.kubernetes.build_go import CannotBuild
from tests.kubernetes.waiting import until
from tests.kubernetes.whole_cluster import ROOT, check_rights

MARK = "PADDLECLOUD_TEST_MARK"
PROGRAM = """
import signal, subprocess, sys
from tests.kubernetes.enclosure import control_group, enclosed, share_mounts
def live():
    share_mounts()
    subprocess.run(["ip", "link", "add", "inside", "type", "bridge"], check=True)
    subprocess.Popen(["setsid", "sleep", "600"])
    print(group, flush=True)
    signal.pause()
    return 0
with control_group() as group:
    code = enclosed(live)
"""


@contextmanager
def enclosed_program(mark: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process outside, and the name of its control group; it works when this begins."""
    try:
        check_rights()
    except CannotBuild as error:
        pytest.skip(str(error))
    environ = {**os.environ, MARK: mark, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as outside:
        try:
            assert outside.stdout
            yield outside, outside.stdout.readline().strip()
        finally:
            outside.kill()


def marked(mark: str) -> list[int]:
    """The living processes of a program and all that it started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [int(path.parent.name)] if f"{MARK}={mark}".encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_an_enclosure(end: signal.Signals) -> None:
    mark = secrets.token_hex(8)
    with enclosed_program(mark) as (outside, group):
        groups = [place / group for place in enclosure.hierarchies()]
        assert group.startswith(enclosure.PREFIX) and all(path.is_dir() for path in groups)
        assert len(marked(mark)) == 4
        assert not Path("/sys/class/net/inside").exists()

        outside.send_signal(end)
        outside.wait(20)

    until(lambda: not marked(mark), what="an end of every process inside")
    if end == signal.SIGKILL:
        # Nobody was left to remove them: the next enclosure does.
        enclosure.sweep()
    assert not any(path.exists() for path in groups)
