"""The JuiceFS mounts of a home: one a node and volume, in a folder that says who uses it.

    nodes/<node>/mounts/<volume>/at       where it is mounted
                                 users/   one file a volume of a pod, with the pod's folder in it
                                 mount.json, log

A user is written down before anything is mounted, and struck out after the mount has gone: whenever the work
is cut off, the next look finds what is left to do. What is mounted is asked of the kernel.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ....cache.engine import Cancelled
from ....cache.juicefs import filesystem
from ....cache.juicefs.client import Client
from ....errors import Failed
from ....settings import Home
from .. import procfs
from ..sandbox import kernel

SAFE = re.compile(r"[a-z0-9][a-z0-9.-]{0,127}")
PATIENCE = 10.0  # seconds for the processes of a mount that is gone
PAUSE = 0.02


@dataclass(frozen=True)
class Mount:
    """One volume on one node."""

    folder: Path

    @property
    def at(self) -> Path:
        return self.folder / "at"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def add(self, pod: str, target: Path) -> None:
        users = self.folder / "users"
        users.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = users / (self.key(pod, target) + ".new")
        new.write_text(str(target), encoding="utf-8")
        new.rename(users / self.key(pod, target))

    def uses(self, pod: str, target: Path) -> bool:
        return (self.folder / "users" / self.key(pod, target)).exists()

    def strike(self, pod: str, target: Path) -> None:
        (self.folder / "users" / self.key(pod, target)).unlink(missing_ok=True)

    def others(self, pod: str, target: Path) -> list[Path]:
        """The volumes of other pods that use it; a pod whose folder is gone does not."""
        own = self.key(pod, target)
        entries = [e for e in self.folder.glob("users/*") if e.name != own and e.suffix != ".new"]
        return [e for e in entries if Path(e.read_text(encoding="utf-8")).parents[1].is_dir()]

    def note(self, program: Path, options: list[str]) -> None:
        """Write down what it is mounted by; nothing secret."""
        new = self.folder / "mount.json.new"
        new.write_text(json.dumps({"program": str(program), "options": options}), encoding="utf-8")
        new.rename(self.folder / "mount.json")

    def noted(self) -> tuple[Path | None, list[str]]:
        try:
            known = json.loads((self.folder / "mount.json").read_bytes())
            return Path(known["program"]), list(known["options"])
        except (OSError, ValueError, KeyError, TypeError):
            return None, []

    def end(self, client: Client) -> None:
        """Nothing is mounted, and nothing runs for it."""
        try:
            filesystem.unmount(client, self.at)
        except Cancelled:
            raise
        except Failed:
            # The client may be gone with its environment; root needs none.
            with suppress(OSError):
                kernel.unmount(str(self.at))
            if filesystem.mounted(self.at):
                raise
        until = time.monotonic() + PATIENCE
        while left := self.processes():
            if time.monotonic() > until:
                for pid in left:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(PAUSE)

    def processes(self) -> list[int]:
        """Those that serve it, known by what they were told to do."""
        return [pid for pid in procfs.every() if serves(pid, self.log)]

    def remove(self) -> None:
        """Forget it; a mount point that is still one stays."""
        if not filesystem.mounted(self.at):
            with suppress(FileNotFoundError):
                self.at.rmdir()
            shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def key(pod: str, target: Path) -> str:
        return f"{pod}-{hashlib.sha256(os.fsencode(target)).hexdigest()[:12]}"


def serves(pid: int, log: Path) -> bool:
    try:
        # The client writes its arguments anew, as one text and in an order of its own.
        said = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ") + b" "
        state = procfs.stat_fields(pid)[0]
    except OSError:
        return False
    return b" mount " in said and b" --log=%s " % os.fsencode(log) in said and state not in "ZX"


def mount_of(home: Home, node: str, handle: str) -> Mount:
    return Mount(home.root / "nodes" / node / "mounts" / folder_name(handle))


def every(home: Home) -> Iterator[Mount]:
    return (Mount(folder) for folder in sorted((home.root / "nodes").glob("*/mounts/*")))


def folder_name(handle: str) -> str:
    """*handle* as a name of a folder; nobody else's."""
    short = hashlib.sha256(handle.encode()).hexdigest()[:16]
    return handle if SAFE.fullmatch(handle) else f"_{short}"


def end_all(home: Home) -> None:
    """End every mount of *home*: its pods are no more."""
    for mount in every(home):
        program, _ = mount.noted()
        if program is not None:
            # One that cannot be ended must not keep the rest of the home from ending.
            with suppress(Failed):
                mount.end(Client(program))
        mount.remove()
