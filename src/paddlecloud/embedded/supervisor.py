"""`pdc up`: one process that starts the others and starts them again when they die.

Children are forked after the imports that all share, so that memory is shared too; what only one needs
it imports itself, beside the others. They end with the supervisor, even when it is killed; the pods do
not. One home has one supervisor: the lock says so, not the pid file. The children share that lock, so that
no successor starts beside them.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import uvloop

from .. import localsockets, log, settings
from ..errors import AlreadyRunning, PaddleCloudError
from ..settings import Home
from .apart import apart, end_with
from .identity import LEAVE, Identity, establish, known, supervisor_of
from .ranges import Ranges
from .store.soundness import examine

QUICK = 5.0  # a process that lives shorter than this is restarted more and more slowly
SLOWEST = 10.0
GARBAGE = (5_000, 10, 20)  # a million new objects between two looks through all of them
PATIENCE = 10.0  # seconds a process gets to end by itself
LOG = log.logger("supervisor")


@dataclass(frozen=True)
class Up:
    """What `pdc up` was asked for."""

    port: int = 0
    nodes: int = 0
    pretend_gpus: int = 0
    node_labels: dict[str, str] = field(default_factory=dict)
    pod_range: str = ""
    service_range: str = ""
    pipelines: Callable[[Any, socket.socket, socket.socket], Coroutine[Any, Any, None]] | None = None
    """The pipelines service, given access and where owners and pods call; it lives beside the gateway."""


Work = Coroutine[Any, Any, None]


@dataclass
class Child:
    name: str
    main: Callable[[], Work]
    api_port: int = 0
    """Whose first words go to the API waits for it: without it they would only fail and pause."""
    pid: int = 0
    started: float = 0.0
    failures: int = 0
    due: float = 0.0


def run(home: Home, up: Up, on_start: Callable[[Identity], None]) -> None:
    """Be the supervisor of *home* until told to end. Raises `AlreadyRunning` for a second one."""
    home.make()
    with lock(home):
        # Looking at the machine and making keys takes libraries that are of no use afterwards.
        with apart(lambda: prepared(home, up)) as preparing:
            import_shared()
            identity = preparing()
        (home.run / "supervisor.pid").write_text(str(os.getpid()))
        try:
            supervise(home, children_of(home, identity, up), identity, lambda: on_start(identity))
        finally:
            (home.run / "supervisor.pid").unlink(missing_ok=True)


def prepared(home: Home, up: Up) -> Identity:
    # A cluster without its objects would only start again and again.
    examine(home.store)
    return establish(home, port=up.port, nodes=up.nodes, routed=addresses(home, up))


def addresses(home: Home, up: Up) -> Ranges | None:
    """The ranges of routed pods, where this machine has such; they must be known before the first Service."""
    from .node.routed.choosing import Asked, choose

    before = known(home)
    kept = before.chosen_ranges if before else None
    return asyncio.run(choose(home, Asked(up.pod_range, up.service_range), kept, secrets.randbelow(1 << 16)))


@contextlib.contextmanager
def lock(home: Home) -> Any:
    handle = os.open(home.lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        take(handle, home)
        yield
    finally:
        os.close(handle)


def take(handle: int, home: Home) -> None:
    """Wait for the lock while only the orphans of a killed supervisor hold it: they are about to end."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            pid = supervisor_of(home)
            if pid or time.monotonic() > end:
                shown = f" (process {pid})" if pid else ""
                raise AlreadyRunning(
                    f"a cluster is already running in {home}{shown}",
                    next_step="use it (`pdc status`), stop it (`pdc down`), or choose another --home",
                ) from error
        time.sleep(0.02)


def children_of(home: Home, identity: Identity, up: Up) -> list[Child]:
    # Open from the first moment to the last: whoever calls while the child behind starts, or starts again,
    # waits for it and is not refused.
    services = localsockets.on_port(identity.gateway_port)
    pipelines = [localsockets.on_port(p) for p in (identity.pipelines_port, identity.pipelines_pods_port)]

    def api() -> Work:
        from .server import serve

        return serve.run(home, identity)

    def controllers() -> Work:
        from .workloads import run

        return run.run(home, access("controllers"), sockets=sockets())

    def node() -> Work:
        from .node import main
        from .node.machine import Declared

        declared = Declared(labels=up.node_labels, pretend_gpus=up.pretend_gpus)
        options = main.NodeOptions(identity.node_names, identity.ranges, declared)
        return main.run(home, access("node"), options)

    def gateway() -> Work:
        from ..serving import gateway

        works = [gateway.run(access("gateway"), services, sockets=sockets())]
        if up.pipelines is not None:
            works.append(up.pipelines(access("gateway"), *pipelines))
        return together(works)

    def access(name: str) -> Any:
        from ..cluster.kubeconfig import from_kubeconfig

        return replace(from_kubeconfig(home.run / f"{name}.kubeconfig"), socket=home.api_socket)

    def sockets() -> Callable[..., socket.socket] | None:
        if not identity.routed:
            return None
        from .node.routed.opening import Doors, factory

        return factory(identity.ranges, Doors(home.run))

    port = identity.api_port
    return [
        Child("api", api),
        Child("node", node),
        Child("controllers", controllers, port),
        Child("gateway", gateway, port),
    ]


def supervise(home: Home, children: list[Child], identity: Identity, on_start: Callable[[], None]) -> None:
    wanted = [signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, LEAVE]
    leaving = False
    # Signals are waited for, not handled: the loop is then plain code without races.
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        # What a user waits for comes first: an API and a node. The cores of a laptop are few.
        api, node, *others = children
        start(home, api)
        start(home, node)
        wait_for_listener(identity.api_port)
        for child in others:
            start(home, child)
        on_start()
        while True:
            soonest = min((c.due for c in children if not c.pid), default=None)
            pause = 3600.0 if soonest is None else max(0.0, soonest - time.monotonic())
            told = signal.sigtimedwait(wanted, pause)
            if told and told.si_signo in (signal.SIGTERM, signal.SIGINT, LEAVE):
                leaving = told.si_signo == LEAVE
                return
            reap(children)
            for child in children:
                if not child.pid and child.due <= time.monotonic():
                    start(home, child)
    finally:
        stop(children)
        if not leaving:
            from .node.closing import stop_all

            asyncio.run(stop_all(home))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)


def import_shared() -> None:
    """What the children have in common, so that they have it once.

    What is frozen is never looked at by a child's garbage collector, which would write to it and so make
    it the child's own.
    """
    from aiohttp import web  # noqa: F401

    from ..cluster import client, informer  # noqa: F401

    gc.collect()
    gc.freeze()
    # Thousands of objects that stay are no garbage: to look through all of them whenever some more have
    # come would stop a process for a quarter of a second each time.
    gc.set_threshold(*GARBAGE)


def wait_for_listener(port: int) -> None:
    """Return once somebody listens there, or a signal asks for attention, or it takes too long."""
    end = time.monotonic() + QUICK
    while time.monotonic() < end and not signal.sigpending():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.01)


def start(home: Home, child: Child) -> None:
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        child.pid, child.started = pid, time.monotonic()
        return
    code = 1
    try:
        end_with(parent)
        code = be(child, home.logs / f"{child.name}.log")
    finally:
        os._exit(code)


def be(child: Child, log_file: Path) -> int:
    """The life of a child: its own log, its own loop, an end by SIGTERM."""
    handle = os.open(log_file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    # Ctrl-C goes to the whole group; the supervisor decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(LEAVE, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, LEAVE])
    log.set_up(settings.value("log_level"), as_json=settings.value("log_format") == "json")
    try:
        work = child.main()
        if child.api_port:
            wait_for_listener(child.api_port)
        uvloop.run(until_terminated(work))
    except PaddleCloudError as error:
        LOG.error("%s ended: %s", child.name, error)
        return error.exit_code
    except Exception:
        LOG.exception("%s ended", child.name)
        return 1
    return 0


async def together(works: list[Work]) -> None:
    """All of them, until one ends."""
    async with asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(work)


async def until_terminated(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def reap(children: list[Child]) -> None:
    for child in children:
        if not child.pid or os.waitpid(child.pid, os.WNOHANG) == (0, 0):
            continue
        lived = time.monotonic() - child.started
        child.failures = child.failures + 1 if lived < QUICK else 1
        pause = min(SLOWEST, 0.1 * 2**child.failures) if lived < QUICK else 0.0
        LOG.warning(
            "%s (process %d) ended after %.1f s; again in %.1f s", child.name, child.pid, lived, pause
        )
        child.pid, child.due = 0, time.monotonic() + pause


def stop(children: list[Child]) -> None:
    """The API last: the others say goodbye through it."""
    others = [child for child in children if child.name != "api"]
    for group in (others, children):
        for child in group:
            if child.pid:
                os.kill(child.pid, signal.SIGTERM)
        wait_all(group)


def wait_all(children: list[Child]) -> None:
    end = time.monotonic() + PATIENCE
    while any(c.pid for c in children):
        for child in children:
            if child.pid and os.waitpid(child.pid, os.WNOHANG) != (0, 0):
                child.pid = 0
        if time.monotonic() > end:
            for child in children:
                if child.pid:
                    os.kill(child.pid, signal.SIGKILL)
            end = float("inf")
        signal.sigtimedwait([signal.SIGCHLD], 0.2)
