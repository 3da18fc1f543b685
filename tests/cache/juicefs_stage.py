"""A JuiceFS file system to try things on: the real client, SQLite and plain files, mounted in a folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.suites.environments import variables

from paddlecloud.cache.engine import Amount, Cancelled
from paddlecloud.cache.juicefs import filesystem
from paddlecloud.cache.juicefs.client import PROGRAM, Client
from paddlecloud.cache.juicefs.engine import JuicefsEngine
from paddlecloud.cache.juicefs.filesystem import FileSystem
from paddlecloud.embedded.node.volumes import fuse


def client_or_skip() -> Client:
    """The client, where what it mounts can be seen; else skips the test with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        if why := fuse.why_not(Path(folder), os.geteuid()):
            pytest.skip(f"no FUSE here: {why}")
    return Client(Path(variables("data")["PATH"].partition(":")[0]) / PROGRAM)


@dataclass
class Course:
    """A `Run` that remembers what it was told, and is cancelled after so many checks."""

    cancelled_after: int = 1 << 30
    amounts: list[Amount] = field(default_factory=list)
    checks: int = 0

    def report(self, amount: Amount) -> None:
        self.amounts.append(amount)

    def check(self) -> None:
        self.checks += 1
        if self.checks > self.cancelled_after:
            raise Cancelled("enough")


@contextmanager
def mounted(
    client: Client, root: Path, *options: str, system: FileSystem | None = None
) -> Iterator[JuicefsEngine]:
    """A fresh file system or *system*, mounted; ended afterwards."""
    system = system or filesystem.in_folder("tried", root / "store")
    (root / "store").mkdir(parents=True)
    at, cache = root / "at", root / "cache"
    filesystem.make(client, system)
    said = (f"--cache-dir={cache}", "--metrics=127.0.0.1:0", "--free-space-ratio=0.01", *options)
    filesystem.mount(client, system, at, root / "log", said)
    try:
        yield JuicefsEngine(client, at, root / "state", [cache])
    finally:
        filesystem.unmount(client, at)


def a_source(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return f"file://{folder}"
