"""A container run as its folder tells it: prepared, running, finished or vanished.

Everything is read back from files and from /proc, so a node that has just started knows as much as one
that never stopped. A process is known by its pid, its start time and the boot: a pid alone lies.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from . import procfs, shim

LOG_BYTES, LOG_LINES = 2048, 80
STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) ([FP]) ")
"""What may stand before a line of a log: its time and its stream."""


class State(StrEnum):
    PREPARED = "prepared"
    """Described and not begun: starting it (again) is safe."""
    RUNNING = "running"
    FINISHED = "finished"
    VANISHED = "vanished"
    """Its shim was killed and took the container along; nobody saw how it ended."""

    @property
    def over(self) -> bool:
        return self in (State.FINISHED, State.VANISHED)


@dataclass(frozen=True)
class Notes:
    """What the node itself writes down about a run, in `notes.json`: it holds for the next node, too."""

    started: bool = False
    """The startup probe has succeeded."""
    hooked: bool = False
    """The postStart hook is over."""
    condemned: str = ""
    """Why the node ends this run; empty: it does not."""
    grace: float | None = None
    """Seconds the condemned run has; None: those of its pod."""


@dataclass(frozen=True)
class Attempt:
    """One run of one container; times are seconds since the epoch."""

    number: int
    state: State
    crashes: int = 0
    """Quick ends in a row before this run: what the back-off counts."""
    started_at: float = 0.0
    finished_at: float = 0.0
    exit_code: int = 0
    signal: int = 0
    message: str = ""
    pid: int = 0
    out_of_memory: bool = False
    not_started: bool = False
    """Its command could not be executed."""
    image_id: str = ""
    notes: Notes = Notes()


def read(folder: Path) -> Attempt:
    order = content(folder / "run.json")
    known = Attempt(
        int(folder.name), State.PREPARED, int(order.get("crashes", 0)),
        image_id=str(order.get("imageID", "")), notes=notes_of(folder),
    )  # fmt: skip
    if end := content(folder / "exit.json"):
        return finished(known, end, folder if order.get("fallback") else None)
    state = content(folder / "state.json")
    if not state:
        return known
    started = float(state.get("startedAt", 0.0)) or (folder / "state.json").stat().st_mtime
    if procfs.is_alive(state, "shim"):
        known = replace(known, message=state.get("failed", ""), not_started="failed" in state)
        return replace(known, state=State.RUNNING, started_at=started, pid=int(state.get("pid", 0)))
    # The shim may have written its last word between the two looks.
    if (folder / "exit.json").exists():
        return read(folder)
    return replace(
        known, state=State.VANISHED, started_at=started, exit_code=137, signal=9,
        finished_at=(folder / "state.json").stat().st_mtime,
        message="the supervisor of this container was killed; how the container ended was not seen",
    )  # fmt: skip


def finished(known: Attempt, end: Mapping[str, Any], log: Path | None) -> Attempt:
    """The run as its shim left it; *log* is the folder whose log speaks for a run without last words."""
    killed = int(end.get("signal", 0))
    code = 128 + killed if killed else int(end["code"])
    return replace(
        known, state=State.FINISHED, started_at=end["startedAt"], finished_at=end["finishedAt"],
        exit_code=code, signal=killed, out_of_memory=bool(end.get("oom")),
        message=end["message"] or (last_lines(log) if log and code else ""),
        not_started=bool(end.get("failed")),
    )  # fmt: skip


def last_lines(folder: Path) -> str:
    """The end of a log as Kubernetes takes it for a message: 2048 bytes, 80 lines at most."""
    try:
        newest = max(folder.glob("log*"), key=lambda path: int(path.suffix[1:] or 0))
        with newest.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - 8 * LOG_BYTES))
            lines = file.read().decode(errors="replace").splitlines(keepends=True)[-LOG_LINES:]
    except (OSError, ValueError):
        return ""
    return "".join(map(unstamped, lines)).encode()[-LOG_BYTES:].decode(errors="ignore")


def unstamped(line: str) -> str:
    """A line of the log as the container wrote it; a piece of a longer line has no end of its own."""
    found = STAMP.match(line)
    if found is None:
        return line
    said = line[found.end() :]
    return said.removesuffix("\n") if found[1] == "P" else said


def notes_of(folder: Path) -> Notes:
    return Notes(**content(folder / "notes.json"))


def note(folder: Path, **changes: Any) -> None:
    """Add to the notes about a run."""
    new = folder / "notes.json.new"
    new.write_text(json.dumps(asdict(replace(notes_of(folder), **changes))), encoding="utf-8")
    new.rename(folder / "notes.json")


def of_container(folder: Path) -> tuple[Attempt, ...]:
    """The runs kept of one container, oldest first."""
    if not folder.is_dir():
        return ()
    numbered = sorted(folder.iterdir(), key=lambda path: int(path.name))
    return tuple(read(path) for path in numbered if described(path))


def described(folder: Path) -> bool:
    return (folder / "run.json").exists()


def describe(folder: Path, order: Mapping[str, Any]) -> None:
    """Write down what to run; `run.json` appears whole and readable by its owner only."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = folder / "run.json.new"
    with os.fdopen(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(order, file)
    new.rename(folder / "run.json")


async def ended(folder: Path) -> None:
    """Return once the run in *folder* has no live shim; costs nothing while it waits."""
    state = content(folder / "state.json")
    pidfd = open_process(state, "shim")
    if pidfd is None:
        return
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_reader(pidfd, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)


def ask_to_stop(folder: Path) -> None:
    """Its stop signal, if nothing is said SIGTERM, to the container's first process through the shim."""
    said = str(content(folder / "run.json").get("stopSignal", ""))
    send(folder, "shim", stop_signal(said))


def stop_signal(said: str) -> signal.Signals:
    """As images write it: a name with or without SIG, or a number; what no shim passes on is SIGTERM."""
    name = said.upper() if said.upper().startswith("SIG") else f"SIG{said.upper()}"
    try:
        number = signal.Signals(int(said)) if said.isdecimal() else signal.Signals[name]
    except (KeyError, ValueError):
        return signal.SIGTERM
    return number if number in shim.FORWARDED else signal.SIGTERM


def kill(folder: Path) -> None:
    """SIGKILL to the container's first process; the shim then ends the rest and reports."""
    send(folder, "pid", signal.SIGKILL)


def send(folder: Path, whom: str, number: signal.Signals) -> None:
    pidfd = open_process(content(folder / "state.json"), whom)
    if pidfd is None:
        return
    try:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, number)
    finally:
        os.close(pidfd)


def open_process(state: Mapping[str, Any], whom: str) -> int | None:
    """A pidfd of the process that *state* means, or None when it is gone."""
    if not procfs.is_alive(state, whom):
        return None
    try:
        pidfd = os.pidfd_open(int(state[whom]))
    except ProcessLookupError:
        return None
    # The pid could have changed hands before it was opened; now it cannot.
    if procfs.is_alive(state, whom):
        return pidfd
    os.close(pidfd)
    return None


def sweep(uid: str, container: str) -> int:
    """Kill what a vanished run left behind, found by the marks in its environment; returns how many."""
    marks = {f"POD_UID={uid}".encode(), f"CONTAINER_NAME={container}".encode()}
    found = [pid for pid, environ in environments() if marks <= environ]
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def environments() -> Iterator[tuple[int, set[bytes]]]:
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            with contextlib.suppress(OSError):
                yield int(entry), set(Path("/proc", entry, "environ").read_bytes().split(b"\0"))


def content(path: Path) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    return loaded
