"""Logs that outlive their pods: what the containers of a removed pod had said, kept in the home for a week.

    podlogs/NAMESPACE/POD/UID/pod.json           who it was and whose; its time is that of the removal
    podlogs/NAMESPACE/POD/UID/CONTAINER/N/log*   the files as the shim of run N wrote them

The one thing a pod leaves behind. The files are linked, not copied, and a folder has its name only when all
of it is there: a removal that was cut short is taken up again, a reader never sees half a pod, and at any
moment finds the log with the pod or here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ... import log
from .podfolder import PodFolder, Record

KEPT_SECONDS = 7 * 24 * 3600.0
KEPT_BYTES = 1 << 30
KEPT_PODS = 10_000
SWEPT_EVERY = 3600.0
SWEPT_AFTER = 64 << 20
"""Bytes that may come before the archive is looked through again."""
COMING = ".coming"
NAME = re.compile(r"[a-z0-9][-.a-z0-9]*")
"""Of namespaces and pods: what is asked for comes from a URL, and no other folder is ever meant."""
LOG = log.logger("node.logarchive")


@dataclass(frozen=True)
class KeptPod:
    """A pod that is gone and whose log is there."""

    folder: Path
    record: Record
    removed_at: float
    """Seconds since the epoch."""

    def runs(self, container: str) -> list[Path]:
        """The folders of its runs, oldest first."""
        found = folders(self.folder / container) if container in self.record.names else []
        return sorted(found, key=lambda path: int(path.name))


class LogArchive:
    """One archive a home; every call may block on the disk."""

    def __init__(self, root: Path, now: Callable[[], float]) -> None:
        self._root, self._now = root, now
        self._unswept = 0
        self._lock = threading.Lock()

    def keep(self, pod: PodFolder) -> None:
        """Take the logs out of a folder that is about to be removed; silent pods leave none.

        A disk that refuses costs the log, never the removal.
        """
        record = pod.record()
        if record is None:
            return
        try:
            taken = self._take(pod, record)
        except OSError as error:
            LOG.warning("the log of pod %s/%s is not kept: %s", record.namespace, record.name, error)
            return
        with self._lock:
            self._unswept += taken
            due = self._unswept >= SWEPT_AFTER
        if due:
            self.sweep()

    def find(self, namespace: str, name: str, uid: str = "") -> KeptPod | None:
        """The pod of that name that went last, or the one with that *uid*."""
        if not (NAME.fullmatch(namespace) and NAME.fullmatch(name)):
            return None
        there = [pod for pod in self._of(self._root / namespace / name) if uid in ("", pod.record.uid)]
        return max(there, key=lambda pod: pod.removed_at, default=None)

    def owned(self, namespace: str, owner: str) -> list[KeptPod]:
        """The pods of an owner (`PaddleJob/resnet`), in the order in which they went."""
        inside = folders(self._root / namespace) if NAME.fullmatch(namespace) else []
        found = (pod for place in inside for pod in self._of(place))
        return sorted((pod for pod in found if pod.record.owner == owner), key=lambda pod: pod.removed_at)

    def sweep(self) -> None:
        """Drop what is too old, then the oldest until the rest is small enough."""
        with self._lock:
            self._unswept = 0
        pods = sorted(self._every(), key=lambda pod: pod.removed_at, reverse=True)
        oldest, size = self._now() - KEPT_SECONDS, 0
        for number, pod in enumerate(pods):
            with contextlib.suppress(FileNotFoundError):  # two sweeps at a time
                size += size_of(pod.folder)
            if pod.removed_at < oldest or size > KEPT_BYTES or number >= KEPT_PODS:
                shutil.rmtree(pod.folder, ignore_errors=True)
                for empty in (pod.folder.parent, pod.folder.parent.parent):
                    with contextlib.suppress(OSError):
                        empty.rmdir()

    def _take(self, pod: PodFolder, record: Record) -> int:
        target = self._root / record.namespace / record.name / record.uid
        coming = self._root / COMING / record.uid
        taken = sum(link(pod.run_folder(name, a.number), coming / name / str(a.number))
                    for name in record.names for a in pod.attempts(name))  # fmt: skip
        if not coming.is_dir() or target.exists():
            shutil.rmtree(coming, ignore_errors=True)
            return 0
        PodFolder(coming).note(record)
        os.utime(coming / "pod.json", (self._now(), self._now()))
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        coming.rename(target)
        return taken

    def _every(self) -> Iterator[KeptPod]:
        for namespace in folders(self._root):
            for place in folders(namespace):
                yield from self._of(place)

    def _of(self, place: Path) -> Iterator[KeptPod]:
        for folder in folders(place):
            # It may be swept while we look.
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
                if record := PodFolder(folder).record():
                    yield KeptPod(folder, record, (folder / "pod.json").stat().st_mtime)


async def keep_sweeping(archive: LogArchive) -> None:
    """Sweep now and from time to time, until cancelled."""
    while True:
        await asyncio.to_thread(archive.sweep)
        await asyncio.sleep(SWEPT_EVERY)


def link(run: Path, target: Path) -> int:
    """Have the files of a run's log here too; returns how many bytes they have."""
    size = 0
    for file in sorted(run.glob("log*")):
        told = file.lstat()
        if not stat.S_ISREG(told.st_mode) or not told.st_size:
            continue
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        (target / file.name).unlink(missing_ok=True)
        os.link(file, target / file.name)
        size += told.st_size
    return size


def folders(place: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(place)
                if entry.name != COMING and entry.is_dir(follow_symlinks=False)]  # fmt: skip
    except (FileNotFoundError, NotADirectoryError):
        return []


def size_of(folder: Path) -> int:
    return sum(
        os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names
    )
