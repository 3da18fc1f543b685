"""A disk that is really full, during a sync and during a warm-up: told, nothing lost, and on with room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cache.juicefs_stage import client_or_skip

from paddlecloud.cache.local.summing import LARGE

FREE = "free space on the disk of the volume"
STORE = "see that the store of the file system answers and has room"


def on_a_disk(of: str, engine: str, folder: Path, size: int) -> list[str]:
    """What *engine* says on a file system of its own, with a source of a small file and one of *size*."""
    disk, source = folder / "disk", folder / "source"
    disk.mkdir()
    source.mkdir()
    (source / "a").write_text("a")
    (source / "b").write_bytes(os.urandom(1 << 20) * (size >> 20))
    program = f"{sys.executable} -m tests.cache.full_disks {engine} {disk} {source}"
    script = f"mount -t tmpfs -o size={of} t {disk} && exec {program}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    if "mount: " in done.stderr or "unshare: " in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("size", [5 << 20, LARGE], ids=["piece by piece", "with the room taken before"])
def test_the_engine_local_says_so_and_goes_on_with_room(tmp_path: Path, size: int) -> None:
    assert on_a_disk("100m", "local", tmp_path, size) == [
        f"sync: full, {FREE}",
        "here: a",
        "again: 1",
        f"warm: full, {FREE}",
        "known: 2",
        "again: 2",
    ]


def test_the_engine_juicefs_names_the_file_and_goes_on_with_room(tmp_path: Path) -> None:
    client_or_skip()
    assert on_a_disk("30m", "juicefs", tmp_path, LARGE) == [f"sync: full, {STORE}", "again: 2"]
