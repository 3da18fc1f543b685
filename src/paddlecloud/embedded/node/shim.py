"""The supervisor of one container run: starts it, outlives everyone else, and writes down how it ended.

A shim knows its attempt folder and nothing more. It is forked from the zygote, so this file uses only the
standard library and imports nothing of the package. Invariants: an attempt is run at most once (the lock
and `state.json` decide), no process of the container is alive once `exit.json` exists, and the container's
first process does not outlive its shim.

    run.json    in   argv, env, cwd, termination (file of the message); 0600, it may hold secrets
    state.json  out  shim and pid with their start times, boot, startedAt
    log         out  stdout and stderr as they came
    exit.json   out  code or signal, startedAt, finishedAt, message
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time

from . import lightly, notify, stdio
from .children import begin_anew, reaped
from .lightly import signal, socket
from .loop import Loop
from .procfs import boot, children, start_time
from .receiving import received
from .sandbox import kernel
from .sandbox.containment import Containment

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs every shim 130 kB
    from collections.abc import Callable
    from typing import Any, NoReturn

NOT_STARTED = 128
"""As container runtimes say it of whatever kept a command from running."""
LIMITED = b"l"
MESSAGE_LIMIT = 4096
LAST_WORDS = 2 * MESSAGE_LIMIT
warm: Callable[[dict[str, Any]], NoReturn] | None = None
"""How a container begins whose program a warm zygote has imported already; see `warmth`."""
FORWARDED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}


def run(folder: str, ready: int, given: list[int]) -> NoReturn:
    """Run the attempt in *folder* to its end; a line on the descriptor *ready* says that it has begun."""
    try:
        os.setsid()
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        os.chdir(folder)
        if not claim():
            answer(ready, "taken")
            os._exit(0)
        supervise(ready)
    except BaseException as error:
        answer(ready, f"failed {type(error).__name__}: {error}")
        os._exit(1)
    os._exit(0)


def claim() -> bool:
    """Make this attempt ours, unless another shim has it or had it."""
    lock = os.open("lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    if os.access("state.json", os.F_OK):
        return False
    # The disk may be full when the container ends: its last words have their room from the beginning.
    reserve("exit.json", LAST_WORDS)
    write("state.json", {"shim": os.getpid(), "shimStart": start_time(os.getpid()), "boot": boot()})
    return True


def supervise(ready: int) -> None:
    order: dict[str, Any] = lightly.read("run.json")
    loop = Loop()
    ends: dict[int, int] = {}
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    container = 0

    def heard(number: int) -> None:
        if number == signal.SIGCHLD:
            ends.update(reaped())
        elif container not in ends:
            os.kill(container, number)

    # Signals wait in the queue until the loop runs: none is lost before the container exists.
    loop.on_signals(FORWARDED | {signal.SIGCHLD}, heard)
    streams = stdio.open(order, loop)
    containment = Containment(order)
    containment.prepare()
    started = time.time()
    container, failure = spawn(order, containment, streams, loop)
    state = {
        "shim": os.getpid(), "shimStart": start_time(os.getpid()), "boot": boot(),
        "pid": container, "pidStart": start_time(container), "startedAt": started,
    }  # fmt: skip
    write("state.json", state | ({"failed": failure} if failure else {}))
    answer(ready, "started")
    containment.watch(loop, container)
    loop.run(lambda: container in ends)
    end_descendants()
    streams.finish()
    exhausted = containment.out_of_memory()
    containment.clean()
    code = ends[container]
    outcome: dict[str, Any] = {"signal": -code} if code < 0 else {"code": code}
    message = failure or termination_message(order.get("termination", ""))
    outcome |= {"startedAt": started, "finishedAt": time.time(), "message": message}
    notes = {"failed": bool(failure), "oom": exhausted}
    outcome |= {name: True for name, holds in notes.items() if holds}
    try:
        write("exit.json", outcome)
    except OSError:
        # More words than room: how it ended matters most.
        write("exit.json", outcome | {"message": ""})


def spawn(
    order: dict[str, Any], containment: Containment, streams: stdio.Streams, loop: Loop
) -> tuple[int, str]:
    """The pid of the container and, if its command could not be executed, why."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        become(order, containment, streams, theirs)
    theirs.close()
    streams.release()
    with ours:
        failure = limited(pid, containment, ours) or heard_from_child(ours, order, loop)
    if failure:
        streams.say(failure)
    return pid, failure


def limited(child: int, containment: Containment, ours: socket.socket) -> str:
    """Let the child go on once it is under its limits; why it is not, if that fails.

    The kernel takes hundredths of a second for this, in which the child makes its root.
    """
    try:
        containment.limit(child)
        ours.send(LIMITED)
    except (BrokenPipeError, ProcessLookupError):
        return ""  # it has failed already, and says why
    except OSError as error:
        # Without the word the child ends.
        ours.shutdown(socket.SHUT_WR)
        return f"cannot start the container: its limits: {error.strerror or error}"
    return ""


def heard_from_child(ours: socket.socket, order: dict[str, Any], loop: Loop) -> str:
    """What the child complains of before it becomes the container; nothing: it has become it."""
    words = b""
    while True:
        try:
            data, given = received(ours, 65536, 1)
        except ConnectionResetError:
            # It ended before it took our word.
            data, given = b"", []
        if not data:
            return words.decode(errors="replace")
        if given:
            notify.serve(loop, given[0], order)
        else:
            words += data


def become(
    order: dict[str, Any], containment: Containment, streams: stdio.Streams, shim: socket.socket
) -> NoReturn:
    what = "its description"
    argv: list[str] = order["argv"]
    try:
        die_with(shim)
        begin_anew()
        what = "its limits"
        containment.limit_self()
        what = "its sandbox"
        containment.enter()
        streams.take()
        if shim.recv(1) != LIMITED:
            os._exit(NOT_STARTED)
        what = f'chdir to cwd ("{order["cwd"]}") failed'
        enter_folder(order["cwd"], make="sandbox" in order)
        what = "its user"
        containment.become_user()
        # A change of user takes the death signal away.
        die_with(shim)
        what = f'exec: "{argv[0]}"'
        watched = notify.prepare_child(order)
        if watched is not None:
            socket.send_fds(shim, [b"n"], [watched])
            os.close(watched)
        if warm is not None and order.get("warm"):
            shim.close()
            warm(order)
        os.execvpe(argv[0], argv, order["env"])
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        if what.startswith("exec: ") and error.errno == errno.ENOENT and "/" not in argv[0]:
            why = "executable file not found in $PATH"
    except (ValueError, IndexError, KeyError) as error:
        why = str(error)
    shim.sendall(f"unable to start container process: {what}: {why}".encode())
    os._exit(NOT_STARTED)


def die_with(shim: socket.socket) -> None:
    """Die when the shim dies, even if it just did; from inside a process namespace it has no number."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        if shim.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b"":
            os._exit(NOT_STARTED)
    except BlockingIOError:
        return


def enter_folder(path: str, make: bool) -> None:
    try:
        os.chdir(path)
    except FileNotFoundError:
        # Container engines make a working directory that the image lacks; the machine's files are not ours.
        if not make:
            raise
        os.makedirs(path)
        os.chdir(path)


def end_descendants() -> None:
    """Kill what the container left behind: as subreaper, its orphans are our children, level by level."""
    while True:
        for child in children(os.getpid()):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def termination_message(path: str) -> str:
    """The end of what the container left in its termination file; empty if there is none."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - MESSAGE_LIMIT))
            return file.read(MESSAGE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def write(name: str, content: dict[str, Any]) -> None:
    """Readers see the whole file or none; room that was reserved is used."""
    descriptor = os.open(name + ".new", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    text = lightly.text_of(content).encode()
    size = len(text)
    try:
        while text:
            text = text[os.write(descriptor, text) :]
        os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)
    os.rename(name + ".new", name)


def reserve(name: str, size: int) -> None:
    """Take room on the disk for what `write` will write."""
    descriptor = os.open(name + ".new", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)


def answer(descriptor: int, text: str) -> None:
    """Tell the one who asked, who may be gone by now."""
    try:
        os.write(descriptor, text.encode() + b"\n")
        os.close(descriptor)
    except OSError:
        print(text, file=sys.stderr)
