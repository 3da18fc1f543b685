"""The node process: all virtual nodes of one home.

It may be killed at any moment: containers belong to their shims, and the next process finds them again.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from ...api.core import Pod, Service
from ...api.endpoints import EndpointSlice
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.kubeconfig import Access
from ...settings import Home, value
from . import attempts, suites
from .agent import ClusterUpstream, follow_pods, heartbeat
from .attempts import State
from .environments import Environments
from .events import Recorder
from .kubelet import serving
from .launcher import Launcher
from .machine import Declared, measure
from .network import podfiles
from .network.apiservice import api_address
from .network.following import Sources, follow_names, follow_services
from .network.nameserver import Nameserver, machine_resolvers
from .network.proxy import Proxy
from .network.routing import Endpoint
from .network.standing import Standing, names_address
from .podfolder import PodFolder, all_folders
from .roster import Roster
from .sandbox import cgroups, holding, homespace
from .sandbox.levels import FILE, Levels, kept, words
from .sandbox.links import Links
from .sandbox.survey import group_bases, survey
from .sandbox.sweeping import sweep
from .volumes import memory
from .volumes.keeping import keep_files
from .workshop import Workshop
from .zygote import LOCK

SOCKET, LINKS = "node.sock", "links.json"
RESOLV_CONF = Path("/etc/resolv.conf")


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
        shop = workshop_of(home, access, upstream, await survey(home, value("isolation")))
        assert shop.links is not None
        there = {folder.path.name for folder in every_pod(home)}
        sweep(group_bases(shop.levels, home), shop.links, there)
        memory.keep(shop.memory, there)
        nameserver = Nameserver(machine_resolvers(machine_names()))
        shop = replace(shop, standing=await standing_of(options.block, nameserver, shop.levels))
        roster = Roster(options.names, options.block, shop)
        pods = Informer(client, Pod)
        sources = Sources(
            Informer(client, Service), Informer(client, EndpointSlice), pods,
            api_address(options.block), Endpoint(shop.api[0], int(shop.api[1])),
        )  # fmt: skip
        upstream.follow(sources.services)
        try:
            async with serving(home.run / SOCKET, roster, shop.launcher), asyncio.TaskGroup() as tasks:
                tasks.create_task(
                    heartbeat(options.names, shop.machine, options.declared, upstream, shop.now)
                )
                tasks.create_task(pods.run())
                tasks.create_task(sources.services.run())
                tasks.create_task(sources.slices.run())
                tasks.create_task(follow_pods(pods, roster))
                tasks.create_task(keep_files(access, pods, roster, shop))
                tasks.create_task(follow_services(sources, Proxy()))
                tasks.create_task(follow_names(sources, nameserver))
        finally:
            await roster.close()
            await shop.environments.close()


async def standing_of(block: int, nameserver: Nameserver, levels: Levels) -> Standing:
    """Serve the names of the cluster, and say what pods are to know of it."""
    host = names_address(block)
    port = await nameserver.listen(host)
    return Standing(host, port, podfiles.read(machine_names()), watched=levels.network != "shared")


def machine_names() -> str:
    """How this machine looks up names; nothing, where it does not say."""
    try:
        return RESOLV_CONF.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def workshop_of(home: Home, access: Access, upstream: ClusterUpstream, levels: Levels) -> Workshop:
    server = urlsplit(access.server)
    return Workshop(
        home=home,
        upstream=upstream,
        recorder=Recorder(upstream, time.time),
        launcher=Launcher(home, levels.user_namespace),
        environments=Environments(home.environments),
        machine=replace(measure(home.root), isolation=words(levels)),
        suite_folders=tuple(suites.folders()),
        api=(server.hostname or "", str(server.port or 443)),
        now=time.time,
        levels=levels,
        links=Links(home.root / LINKS),
        memory=memory.root_of(home.root),
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
    for folder in every_pod(home):
        holding.end(folder.path)
    stop_zygote(home)
    memory.clear(home.root)
    homespace.stop(str(home.run))
    bases = group_bases(kept(home.run / FILE) or Levels(), home)
    sweep(bases, Links(home.root / LINKS), ())
    cgroups.remove(bases)
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
