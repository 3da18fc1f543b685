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

import ctypes
import fcntl
import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs every shim 130 kB
    from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
NOT_EXECUTABLE, NOT_FOUND = 126, 127
MESSAGE_LIMIT = 4096
FORWARDED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
LIBC = ctypes.CDLL(None, use_errno=True)


def run(folder: str, ready: int) -> NoReturn:
    """Run the attempt in *folder* to its end; a line on the descriptor *ready* says that it has begun."""
    try:
        os.setsid()
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
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
    if os.path.exists("state.json"):
        return False
    write("state.json", {"shim": os.getpid(), "shimStart": start_time(os.getpid()), "boot": boot()})
    return True


def supervise(ready: int) -> None:
    with open("run.json", encoding="utf-8") as file:
        order: dict[str, Any] = json.load(file)
    # Signals wait in the queue until we ask for them: none is lost before the container exists.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
    started = time.time()
    pid, failure = spawn(order)
    state = {
        "shim": os.getpid(), "shimStart": start_time(os.getpid()), "boot": boot(),
        "pid": pid, "pidStart": start_time(pid), "startedAt": started,
    }  # fmt: skip
    write("state.json", state)
    answer(ready, "started")
    code = wait(pid)
    end_descendants()
    outcome: dict[str, Any] = {"signal": -code} if code < 0 else {"code": code}
    message = failure or termination_message(order.get("termination", ""))
    write("exit.json", outcome | {"startedAt": started, "finishedAt": time.time(), "message": message})


def spawn(order: dict[str, Any]) -> tuple[int, str]:
    """The pid of the container and, if its command could not be executed, why."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    shim = os.getpid()
    pid = os.fork()
    if pid == 0:
        become(order, writer, shim)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        failure = pipe.read()
    if failure:
        with open("log", "a", encoding="utf-8") as log:
            log.write(failure + "\n")
    return pid, failure


def become(order: dict[str, Any], complaint: int, shim: int) -> NoReturn:
    code, what = NOT_EXECUTABLE, ""
    argv: list[str] = order["argv"]
    try:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != shim:
            os._exit(NOT_EXECUTABLE)
        os.setsid()
        # Whoever started us may ignore some (nohup does, and shells for what runs in the background).
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        log = os.open("log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.umask(0o022)
        what = f"working directory {order['cwd']}"
        os.chdir(order["cwd"])
        what = f"command {argv[0]}"
        os.execvpe(argv[0], argv, order["env"])
    except FileNotFoundError:
        code, why = NOT_FOUND, "not found"
    except NotADirectoryError:
        why = "not a folder"
    except PermissionError:
        why = "may not be executed (no permission)"
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, IndexError, KeyError) as error:
        why = str(error)
    os.write(complaint, f"cannot start the container: {what or 'its description'}: {why}".encode())
    os._exit(code)


def wait(pid: int) -> int:
    """The exit code of *pid* (negative: the signal), forwarding to it every signal sent to the shim."""
    while True:
        number = signal.sigwait(FORWARDED | {signal.SIGCHLD})
        if number != signal.SIGCHLD:
            os.kill(pid, number)
            continue
        while True:
            reaped, status = os.waitpid(-1, os.WNOHANG)
            if reaped == pid:
                return os.waitstatus_to_exitcode(status)
            if reaped == 0:
                break


def end_descendants() -> None:
    """Kill what the container left behind: as subreaper, its orphans are our children, level by level."""
    while True:
        for child in children():
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:
        # Kernels without CONFIG_PROC_CHILDREN.
        return [int(p) for p in os.listdir("/proc") if p.isdigit() and parent(int(p)) == me]


def parent(pid: int) -> int:
    try:
        return int(stat_fields(pid)[1])
    except OSError:
        return 0


def termination_message(path: str) -> str:
    """The end of what the container left in its termination file; empty if there is none."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - MESSAGE_LIMIT))
            return file.read(MESSAGE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def start_time(pid: int) -> int:
    """Ticks since boot: with the pid, the identity of a process."""
    return int(stat_fields(pid)[19])


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may itself hold spaces and brackets."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def write(name: str, content: dict[str, Any]) -> None:
    """Readers see the whole file or none."""
    descriptor = os.open(name + ".new", os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.rename(name + ".new", name)


def answer(descriptor: int, text: str) -> None:
    """Tell the one who asked, who may be gone by now."""
    try:
        os.write(descriptor, text.encode() + b"\n")
        os.close(descriptor)
    except OSError:
        print(text, file=sys.stderr)
