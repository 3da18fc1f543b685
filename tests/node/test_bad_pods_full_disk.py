"""A full disk: what runs ends with its own code; what comes waits, says why, and goes on with room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("level", ["root", "plain"])
def test_pods_outlive_a_full_disk(tmp_path: Path, level: str) -> None:
    """On a file system of 16 MiB in a namespace of its own."""
    program = f"{sys.executable} -m tests.node.full_node {tmp_path} {level}"
    script = f"mount -t tmpfs -o size=16m t {tmp_path} && exec {program}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr or "this machine has no level" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip().splitlines()[-1]}")
    assert done.stdout.splitlines() == [
        "early 3 Error",
        "late Pending ContainerCreating",
        "told FailedCreatePodSandBox",
        "late Succeeded at last",
    ], done.stderr
