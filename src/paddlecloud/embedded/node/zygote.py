"""The zygote: one small process that forks the small processes around containers.

`launcher.start_zygote` starts it. It has one thread and never more, because a container's death signal
follows the thread that forked it, and it imports next to nothing, because every shim shares its pages. It
holds no state: killing it harms no shim, and the node starts another. Protocol on `zygote.sock`: a line
`VERB FOLDER` comes in, with descriptors if need be; the forked process itself answers `started`, `taken` or
`failed WHY`, and more where its verb says so. The verbs are the keys of `VERBS`.

With another *name* it has that socket and that lock, and imports first what `NAME.json` says (`warmth`).
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import warnings

from .lightly import signal, socket
from .receiving import received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    Run = Callable[[str, int, list[int]], NoReturn]

PACKAGE = __name__.rpartition(".")[0]
PLAIN = "zygote"
SOCKET, LOCK = f"{PLAIN}.sock", f"{PLAIN}.lock"
VERBS = {
    "run": "shim", "hold": "holder", "exec": "execute", "dial": "dial",
    "switch": "routed.switch", "doors": "routed.doors", "rewire": "routed.rewiring",
}  # fmt: skip
"""Modules beside this one; each has `run(folder, connection, descriptors)`, which does not return."""
LONGEST_REQUEST = 65536
MOST_DESCRIPTORS = 8
LAST_DESCRIPTOR = 65536


def main(run_folder: str, place: str = "", name: str = PLAIN) -> int:
    # Whatever else its starter had open would be open in every container, and in others' conversations.
    os.closerange(3, LAST_DESCRIPTOR)
    os.chdir(run_folder)
    lock = os.open(f"{name}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say_ready()
        return 0
    # The starter waits for its child and is rid of it: the zygote belongs to nobody.
    if os.fork():
        os._exit(0)
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    # Whoever started us may have kept signals from itself; we take them all.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Shims are reaped by the kernel; who needs to know of their end holds a pidfd.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Whatever Python would import later it may not find: inside a container its files can be out of sight.
    assert warnings
    runs = loaded()
    if place == "user":
        importlib.import_module(f"{PACKAGE}.sandbox.homespace").enter()
    if name == PLAIN:
        serve(listen(), lock, runs)
    else:
        # Only here: every shim of the plain one would carry what this imports.
        warmth = importlib.import_module(f"{PACKAGE}.warmth")
        warmth.warm_up(f"{name}.json")
        listener = listen(f"{name}.sock")
        listener.settimeout(warmth.IDLE)
        serve(listener, lock, runs, warmth.alone)
        os.unlink(f"{name}.sock")
    return 0


def loaded() -> dict[str, Run]:
    importlib.import_module(f"{PACKAGE}.sandbox.kernel").look_up()
    return {verb: importlib.import_module(f"{PACKAGE}.{module}").run for verb, module in VERBS.items()}


def listen(name: str = SOCKET) -> socket.socket:
    # Only the holder of the lock comes here: a socket found is a dead one's.
    if os.path.lexists(name):
        os.unlink(name)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(name)
    os.chmod(name, 0o600)
    listener.listen(128)
    say_ready()
    return listener


def serve(
    listener: socket.socket, lock: int, runs: dict[str, Run], over: Callable[[], bool] | None = None
) -> None:
    """Fork for whoever asks; *over* says, after a time in which nobody did, whether to end."""
    # A collection would touch every page a shim shares with us; neither of us makes cycles.
    gc.collect()
    gc.disable()
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            if over is None or over():
                return
            continue
        with connection:
            verb, folder, given = requested(connection)
            if verb not in runs:
                close(given)
                continue
            try:
                pid = os.fork()
            except OSError as error:
                connection.sendall(f"failed {error.strerror}\n".encode())
                pid = -1
            if pid == 0:
                # What the shim kept open would live as long as the container.
                listener.close()
                os.close(lock)
                runs[verb](folder, connection.detach(), given)
            close(given)


def requested(connection: socket.socket) -> tuple[str, str, list[int]]:
    """Verb, folder and descriptors; a client that says nothing in time is sent away, others are waiting."""
    connection.settimeout(2)
    line, given = b"", list[int]()
    try:
        while not line.endswith(b"\n"):
            data, more = received(connection, LONGEST_REQUEST, MOST_DESCRIPTORS)
            given += more
            line += data
            if not data or len(line) > LONGEST_REQUEST:
                raise OSError("not a request")
    except OSError:
        close(given)
        return "", "", []
    connection.settimeout(None)
    verb, _, folder = os.fsdecode(line[:-1]).partition(" ")
    return verb, folder, given


def close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def say_ready() -> None:
    # The starter waits for one line and may have closed its end afterwards.
    os.write(1, b"ready\n")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
