"""Starting, finding and ending an embedded cluster from outside: `pdc up --detach`, `status`, `down`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..cluster.kubeconfig import from_kubeconfig, runs
from ..embedded.identity import LEAVE, Identity, known, supervisor_of
from ..errors import Failed, PaddleCloudError, TimedOut
from ..settings import Home

if TYPE_CHECKING:
    from ..api.core import Node
    from ..api.lease import Lease

STARTS_WITHIN = 60.0
ENDS_WITHIN = 60.0


@dataclass(frozen=True)
class State:
    """What can be said about a home from outside."""

    pid: int
    identity: Identity | None

    @property
    def running(self) -> bool:
        return bool(self.pid)


def state(home: Home) -> State:
    return State(supervisor_of(home), known(home))


def start(home: Home, arguments: list[str]) -> None:
    """Start `pdc up` in the background and return when the cluster answers and has a node."""
    home.make()
    began = datetime.now(UTC)
    log_file = home.logs / "supervisor.log"
    process: subprocess.Popen[bytes] | None = None
    try:
        with log_file.open("ab") as output, interrupted_afterwards():
            begin = output.tell()
            process = subprocess.Popen(
                [sys.executable, "-m", "paddlecloud.cli.main", "--home", str(home), "up", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        pid, ended = process.pid, process.poll

        def check() -> None:
            if (code := ended()) is not None:
                said = log_file.read_bytes()[begin:].decode(errors="replace").strip()
                raise Failed(said.removeprefix("error: ") or f"the cluster ended with code {code}")

        # Before it has taken its place, what answers are the orphans of a killed one, about to end.
        wait_until_ready(home, began, check, taken=lambda: supervisor_of(home) == pid)
    except BaseException:
        # Whoever gives up waiting must not be surprised by a cluster later on.
        if process is not None:
            process.terminate()
            process.wait()
        raise


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Ctrl-C inside acts at the end: amid the start of a process it would leave one nobody knows of."""
    came = False

    def remember(*_: object) -> None:
        nonlocal came
        came = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


def wait_until_ready(
    home: Home, began: datetime, check: Callable[[], None], taken: Callable[[], bool]
) -> None:
    """Returns when every node is Ready and was heard since *began*, and the place of the supervisor *taken*.

    *check* raises when waiting is no use.
    """
    end, last = time.monotonic() + STARTS_WITHIN, "no answer"
    while time.monotonic() < end:
        check()
        try:
            if taken() and nodes_ready(home, began):
                return
            last = "its nodes are not ready"
        except PaddleCloudError as error:
            last = error.message
        time.sleep(0.05)
    raise TimedOut(
        f"the cluster in {home} did not come up within {STARTS_WITHIN:.0f} s: {last}",
        next_step=f"look into {home.logs}",
    )


def nodes_ready(home: Home, began: datetime) -> bool:
    identity = known(home)
    if identity is None or not home.kubeconfig.exists():
        return False
    # Imported while the cluster starts, not before it.
    from ..api.core import Node
    from ..api.lease import Lease
    from ..sdk.client import Client

    with Client(from_kubeconfig(home.kubeconfig)) as client:
        ready_ones = {n.name for n in client.list(Node).items if ready(n)}
        leases = client.list(Lease, "kube-node-lease").items
    # What stands there of an earlier run says nothing: a node that is up has renewed its lease.
    heard = {lease.name for lease in leases if renewed(lease) >= began}
    return set(identity.node_names) <= ready_ones & heard


def renewed(lease: Lease) -> datetime:
    return datetime.fromisoformat(lease.spec.renew_time or "1970-01-01T00:00:00Z")


def ready(node: Node) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node.status.get("conditions") or ())


def stop(home: Home, leave_running: bool = False) -> bool:
    """End the cluster of *home*, with its pods unless they are to be left; False when nothing was running."""
    pid = supervisor_of(home)
    if pid:
        os.kill(pid, LEAVE if leave_running else signal.SIGTERM)
    end = time.monotonic() + ENDS_WITHIN
    while runs(home):
        if time.monotonic() > end:
            raise TimedOut(
                f"process {pid} did not end within {ENDS_WITHIN:.0f} s", next_step=f"kill -9 {pid}"
            )
        time.sleep(0.02)
    return bool(pid) or (not leave_running and end_pods(home))


def left_running(home: Home) -> int:
    """How many containers run although nobody looks after them."""
    from ..embedded.node.closing import running_runs
    from ..embedded.node.podfolder import every_pod

    return sum(len(running_runs(folder)) for folder in every_pod(home))


def end_pods(home: Home) -> bool:
    """End the pods that outlived a killed supervisor; False when there are none."""
    from ..embedded.node.closing import stop_all

    return asyncio.run(stop_all(home)) > 0
