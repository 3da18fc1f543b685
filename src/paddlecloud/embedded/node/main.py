"""The node process: all virtual nodes of one home.

It may be killed at any moment: containers belong to their shims, and the next process finds them again.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ...api.core import Pod, Service
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.kubeconfig import Access
from ...settings import Home
from . import attempts, suites
from .agent import ClusterUpstream, follow_pods, follow_services, heartbeat
from .attempts import State
from .environments import Environments
from .events import Recorder
from .kubelet import serving
from .launcher import Launcher
from .machine import Declared, measure
from .podfolder import PodFolder, all_folders
from .proxy import Proxy
from .roster import Roster
from .workshop import Workshop
from .zygote import LOCK

SOCKET = "node.sock"


@dataclass(frozen=True)
class NodeOptions:
    names: tuple[str, ...]
    """The virtual nodes; each gets its Node object."""
    block: int
    """Pods get addresses in 127.<block>.0.0/16."""
    declared: Declared = field(default_factory=Declared)


async def run(home: Home, access: Access, options: NodeOptions) -> None:
    """Be the nodes until cancelled; pods run on afterwards."""
    async with Client(access) as client:
        upstream = ClusterUpstream(client)
        shop = workshop_of(home, access, upstream)
        roster = Roster(options.names, options.block, shop)
        pods, services = Informer(client, Pod), Informer(client, Service)
        try:
            async with serving(home.run / SOCKET, roster.find), asyncio.TaskGroup() as tasks:
                tasks.create_task(
                    heartbeat(options.names, shop.machine, options.declared, upstream, shop.now)
                )
                tasks.create_task(pods.run())
                tasks.create_task(services.run())
                tasks.create_task(follow_pods(pods, roster))
                tasks.create_task(follow_services(services, pods, Proxy()))
        finally:
            await roster.close()
            await shop.environments.close()


def workshop_of(home: Home, access: Access, upstream: ClusterUpstream) -> Workshop:
    server = urlsplit(access.server)
    return Workshop(
        home=home,
        upstream=upstream,
        recorder=Recorder(upstream, time.time),
        launcher=Launcher(home),
        environments=Environments(home.environments),
        machine=measure(home.root),
        suite_folders=tuple(suites.folders()),
        api=(server.hostname or "", str(server.port or 443)),
        now=time.time,
    )


async def stop_all(home: Home, grace: float = 10.0) -> int:
    """End every container of *home*, with SIGTERM first, and the zygote; returns how many ran.

    The pods stay in the store: what should run is started again by the next node.
    """
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
    stop_zygote(home)
    return len(running)


def every_pod(home: Home) -> list[PodFolder]:
    nodes = home.root / "nodes"
    found = sorted(nodes.iterdir()) if nodes.is_dir() else []
    return [folder for node in found for folder in all_folders(home.pods(node.name))]


def running_runs(folder: PodFolder) -> list[Path]:
    record = folder.record()
    return [
        folder.run_folder(name, attempt.number)
        for name in (*record.init_containers, *record.containers)
        for attempt in folder.attempts(name)
        if attempt.state == State.RUNNING
    ] if record else []  # fmt: skip


def stop_zygote(home: Home) -> None:
    """End the zygote, known by the lock it holds and by its command line."""
    try:
        pid = int((home.run / LOCK).read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if os.fsencode(home.run) in command.split(b"\0"):
            os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        return
