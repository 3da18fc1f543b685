"""Ends all that runs for the pods of a home.

The zygote goes first: from then on nothing new is forked. What it forked in its last moment may not have
written down that it exists, so this goes on until no process is left that came from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import time
from pathlib import Path

from ...settings import Home
from . import attempts, procfs, zygote
from .attempts import State
from .launcher import START
from .podfolder import PodFolder, every_pod
from .routed import switch
from .sandbox import cgroups, holding, homespace
from .sandbox.levels import FILE, Levels, kept
from .sandbox.links import Links
from .sandbox.survey import group_bases
from .sandbox.sweeping import sweep
from .volumes import juicefsmounts, memory
from .warmstarts import PREFIX

LINKS = "links.json"
PATIENCE = 5.0  # seconds for what ends by itself once its pod is gone
PAUSE = 0.02


async def stop_all(home: Home, grace: float = 10.0) -> int:
    """End every container of *home*, with SIGTERM first, and what serves them; returns how many ran.

    The pods stay in the store: what should run is started again by the next node.
    """
    for name in (zygote.LOCK, *(path.name for path in home.run.glob(f"{PREFIX}*.lock"))):
        end_zygote(home, name)
    ran, until = 0, None
    while True:
        ran += await end_containers(home, grace)
        for folder in every_pod(home):
            holding.end(folder.path)
        switch.stop(str(home.run))
        homespace.stop(str(home.run))
        if not (left := forks(home)):
            break
        until = until or time.monotonic() + PATIENCE
        for pid in left if time.monotonic() > until else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(PAUSE)
    await asyncio.to_thread(juicefsmounts.end_all, home)
    memory.clear(home.root)
    bases = group_bases(kept(home.run / FILE) or Levels(), home)
    sweep(bases, Links(home.root / LINKS), ())
    cgroups.remove(bases)
    return ran


async def end_containers(home: Home, grace: float) -> int:
    running = [path for folder in every_pod(home) for path in running_runs(folder)]
    for path in running:
        attempts.ask_to_stop(path)
    waits = [asyncio.create_task(attempts.ended(path)) for path in running]
    if waits:
        _, late = await asyncio.wait(waits, timeout=grace)
        if late:
            for path in running:
                attempts.kill(path)
            await asyncio.wait(late)
    return len(running)


def running_runs(folder: PodFolder) -> list[Path]:
    record = folder.record()
    return [
        folder.run_folder(name, attempt.number)
        for name in record.names
        for attempt in folder.attempts(name)
        if attempt.state == State.RUNNING
    ] if record else []  # fmt: skip


def end_zygote(home: Home, name: str = zygote.LOCK) -> None:
    """End a zygote, known by the lock it holds and by its command line, and wait until it is gone."""
    try:
        lock = os.open(home.run / name, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        until = time.monotonic() + PATIENCE
        while is_held(lock) and time.monotonic() < until:
            # One that has just begun holds the lock a moment before it says who it is.
            with contextlib.suppress(OSError, ValueError):
                pid = int(os.pread(lock, 32, 0))
                if came_from_zygote(pid, home):
                    os.kill(pid, signal.SIGTERM)
            time.sleep(PAUSE / 4)
    finally:
        os.close(lock)


def is_held(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def forks(home: Home) -> list[int]:
    """The processes that came from the zygote of *home* and are still what it made of them."""
    return [pid for pid in procfs.every() if came_from_zygote(pid, home)]


def came_from_zygote(pid: int, home: Home) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return START.encode() in words and os.fsencode(home.run) in words
