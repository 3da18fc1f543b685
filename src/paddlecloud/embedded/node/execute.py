"""Runs one more command inside a container that is already running.

`exec.json` in FOLDER, which lies in the folder `execs` of the container's attempt, has the `argv`; the
descriptors that come with the request become 0, 1 and 2. With `tty` there are none: a terminal is made inside
the container, and its other end goes back with the answer. Answers: `started`, then `ended CODE`, where a
signal counts as 128 and its number. When the other side hangs up, the command is told so and then killed;
what the command leaves running ends with the container. Only the standard library: it runs in a process
forked by the zygote.
"""

from __future__ import annotations

import fcntl
import os
import select
import termios

from . import lightly, notify, procfs, stdio
from .children import begin_anew, reaped
from .lightly import signal, socket
from .loop import Loop
from .receiving import received
from .sandbox import entering, kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

NOT_EXECUTABLE, NOT_FOUND = 126, 127
LAST_CHANCE = 1.0
"""Seconds between the hang-up and the kill."""


def run(folder: str, ready: int, given: list[int]) -> NoReturn:
    """Run what is described in *folder* to its end."""
    try:
        os.setsid()
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        wish: dict[str, Any] = lightly.read(os.path.join(folder, "exec.json"))
        attempt = os.path.dirname(os.path.dirname(folder))
        container = os.pidfd_open(int(entering.content(attempt, "state.json").get("pid", 0)))
        order = entering.enter(attempt)
        accompany(order, wish, (ready, container), given)
    except BaseException as error:
        tell(ready, f"failed {error}")
    os._exit(0)


def accompany(
    order: dict[str, Any], wish: dict[str, Any], watched: tuple[int, int], given: list[int]
) -> None:
    ready, container = watched
    loop = Loop()
    ends: dict[int, int] = {}
    # Before there is a child: its end may come at once.
    loop.on_signals({signal.SIGCHLD}, lambda _: ends.update(reaped()))
    terminal = -1
    if wish.get("tty"):
        terminal, inner = os.openpty()
        stdio.own(inner, order)
        given = [inner, inner, inner]
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        become(order, wish, given, theirs)
    theirs.close()
    for descriptor in set(given):
        os.close(descriptor)
    with ours:
        # Its calls are looked at as those of the container itself; it hangs up when it is executed.
        for calls in received(ours, 1, 1)[1]:
            notify.serve(loop, calls, order)
    start(ready, terminal)

    def hang_up(_: int) -> None:
        loop.remove(ready)
        end_group(pid, signal.SIGHUP)
        loop.every(LAST_CHANCE, lambda: end_group(pid, signal.SIGKILL))

    def container_ended(_: int) -> None:
        loop.remove(container)
        end_everything()

    # In a process namespace everything ends with its first process, and /proc is not ours to read.
    plain = "sandbox" not in order
    loop.add(ready, hang_up, select.POLLRDHUP)
    if plain:
        loop.add(container, container_ended)
    loop.run(lambda: pid in ends)
    code = ends[pid]
    tell(ready, f"ended {code if code >= 0 else 128 - code}")
    loop.remove(ready)
    os.close(ready)
    # What it left running is still the container's, and has nobody else who would end it.
    loop.run(lambda: not plain or not procfs.children(os.getpid()))


def become(
    order: dict[str, Any], wish: dict[str, Any], given: list[int], companion: socket.socket
) -> NoReturn:
    code = NOT_EXECUTABLE
    argv: list[str] = wish["argv"]
    environment: dict[str, str] = order["env"]
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        begin_anew()
        for place, descriptor in enumerate(given[:3]):
            os.dup2(descriptor, place)
        if wish.get("tty"):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            environment = {"TERM": "xterm", **environment}
        os.chdir(order["cwd"])
        entering.become(order)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        # In a root of its own the companion cannot tell by /proc who calls.
        watched = notify.prepare_child(order) if "sandbox" not in order else None
        if watched is not None:
            socket.send_fds(companion, [b"n"], [watched])
            os.close(watched)
        os.execvpe(argv[0], argv, environment)
    except FileNotFoundError:
        code = NOT_FOUND
        os.write(2, f"{argv[0]}: not found\n".encode())
    except (OSError, ValueError, IndexError) as error:
        os.write(2, f"cannot be executed: {error}\n".encode())
    os._exit(code)


def start(ready: int, terminal: int) -> None:
    if terminal < 0:
        os.write(ready, b"started\n")
        return
    connection = socket.socket(fileno=ready)
    socket.send_fds(connection, [b"started\n"], [terminal])
    connection.detach()
    os.close(terminal)


def end_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        return


def end_everything() -> None:
    for pid in procfs.descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def tell(descriptor: int, text: str) -> None:
    try:
        os.write(descriptor, text.encode() + b"\n")
    except OSError:
        # Whoever asked is gone.
        return
