"""The zygote: one small process that forks a shim for every container run.

    python -S -I zygote.py RUN-FOLDER

It has one thread and never more, because a container's death signal follows the thread that forked it,
and it imports next to nothing, because every shim shares its pages. It holds no state: killing it harms
no shim, and the node starts another. Protocol on `zygote.sock`: a line with an attempt folder comes in;
the shim itself answers `started`, `taken` or `failed WHY`.
"""

import fcntl
import gc
import importlib
import os
import signal
import socket
import sys

SOCKET, LOCK = "zygote.sock", "zygote.lock"


def main(run_folder: str) -> int:
    os.chdir(run_folder)
    lock = os.open(LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
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
    listener = listen()
    serve(listener, lock)
    return 0


def listen() -> socket.socket:
    # Only the holder of the lock comes here: a socket found is a dead one's.
    if os.path.lexists(SOCKET):
        os.unlink(SOCKET)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(SOCKET)
    os.chmod(SOCKET, 0o600)
    listener.listen(128)
    say_ready()
    return listener


def serve(listener: socket.socket, lock: int) -> None:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    shim = importlib.import_module("shim")
    # A collection would touch every page a shim shares with us; neither of us makes cycles.
    gc.collect()
    gc.disable()
    while True:
        connection, _ = listener.accept()
        with connection:
            folder = requested(connection)
            if not folder:
                continue
            try:
                pid = os.fork()
            except OSError as error:
                connection.sendall(f"failed {error.strerror}\n".encode())
                continue
            if pid == 0:
                # What the shim kept open would live as long as the container.
                listener.close()
                os.close(lock)
                shim.run(folder, connection.detach())


def requested(connection: socket.socket) -> str:
    """The folder asked for; a client that says nothing in time is sent away, others are waiting."""
    connection.settimeout(2)
    try:
        line = connection.makefile("rb").readline(65536)
    except OSError:
        return ""
    connection.settimeout(None)
    return os.fsdecode(line.removesuffix(b"\n")) if line.endswith(b"\n") else ""


def say_ready() -> None:
    # The starter waits for one line and may have closed its end afterwards.
    os.write(1, b"ready\n")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
