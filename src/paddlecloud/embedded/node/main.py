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

from ...api.core import Node, Pod, Service
from ...api.endpoints import EndpointSlice
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.kubeconfig import Access
from ...settings import Home, value
from ..ranges import Ranges
from . import attempts, pressure, suites
from .agent import ClusterUpstream, follow_pods
from .attempts import State
from .environments import Environments
from .events import Recorder
from .heartbeats import Heartbeats
from .kubelet import serving
from .launcher import Launcher
from .machine import Declared, Machine, measure
from .network import podfiles
from .network.following import Sources, follow_names, follow_services
from .network.nameserver import Nameserver, machine_resolvers
from .network.proxy import Proxy
from .network.routing import Endpoint
from .network.standing import Standing
from .nodestatus import Outlook
from .podfolder import PodFolder, every_pod
from .roster import Roster
from .routed import switch
from .routed.network import Routed
from .routed.outside import open_outside
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
API_PORT = "443"
"""Of the API as a Service."""
RESOLV_CONF = Path("/etc/resolv.conf")


@dataclass(frozen=True)
class NodeOptions:
    names: tuple[str, ...]
    """The virtual nodes; each gets its Node object."""
    ranges: Ranges
    """Where the addresses of pods and Services come from."""
    declared: Declared = field(default_factory=Declared)


async def run(home: Home, access: Access, options: NodeOptions) -> None:
    """Be the nodes until cancelled; pods run on afterwards."""
    async with Client(access) as client:
        upstream = ClusterUpstream(client)
        machine = await asyncio.to_thread(measure, home.root, len(options.names))
        levels = await survey(home, value("isolation"), value("network"))
        shop = workshop_of(home, access, upstream, machine, levels)
        assert shop.links is not None
        there = {folder.path.name for folder in every_pod(home)}
        sweep(group_bases(shop.levels, home), shop.links, there)
        memory.keep(shop.memory, there)
        routed = await routed_of(home, options.ranges, shop)
        reach = routed.reach if routed else None
        nameserver = Nameserver(machine_resolvers(machine_names()), reach)
        standing = await standing_of(options.ranges, nameserver, shop.levels)
        if routed:
            shop = replace(shop, network=routed, inner_api=(options.ranges.api, API_PORT))
        shop = replace(shop, standing=standing)
        roster = Roster(options.names, options.ranges, shop)
        outside = await open_outside(options.ranges, routed.doors) if routed else None
        pods = Informer(client, Pod)
        sources = Sources(
            Informer(client, Service), Informer(client, EndpointSlice), pods,
            options.ranges.api, api_of(access),
        )  # fmt: skip
        upstream.follow(sources.services)
        nodes = Informer(client, Node)
        outlook = Outlook(options.names, shop.machine, options.declared)
        heartbeats = Heartbeats(outlook, lambda: pressure.read(home.root), upstream, nodes, shop.now)
        try:
            async with serving(home.run / SOCKET, roster, shop.launcher), asyncio.TaskGroup() as tasks:
                tasks.create_task(nodes.run())
                tasks.create_task(heartbeats.run())
                tasks.create_task(pods.run())
                tasks.create_task(sources.services.run())
                tasks.create_task(sources.slices.run())
                tasks.create_task(follow_pods(pods, roster))
                tasks.create_task(keep_files(access, pods, roster, shop))
                tasks.create_task(follow_services(sources, Proxy(reach)))
                tasks.create_task(follow_names(sources, nameserver))
                if routed:
                    tasks.create_task(routed.watch())
        finally:
            await roster.close()
            await shop.environments.close()
            if outside:
                outside.close()
            if routed:
                routed.close()


async def routed_of(home: Home, ranges: Ranges, shop: Workshop) -> Routed | None:
    """The network of routed pods, with those that run connected; None: pods are on the machine's own."""
    if not ranges.routed:
        return None
    found = Routed(home, shop.launcher, ranges, linked=not shop.levels.user_namespace)
    await found.open()
    await found.restore(folder.path for folder in every_pod(home))
    return found


async def standing_of(ranges: Ranges, nameserver: Nameserver, levels: Levels) -> Standing:
    """Serve the names of the cluster, and say what pods are to know of it."""
    port = await nameserver.listen(ranges.names)
    watched = levels.network != "shared" and not ranges.routed
    return Standing(ranges.names, port, podfiles.read(machine_names()), watched)


def machine_names() -> str:
    """How this machine looks up names; nothing, where it does not say."""
    try:
        return RESOLV_CONF.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def workshop_of(
    home: Home, access: Access, upstream: ClusterUpstream, machine: Machine, levels: Levels
) -> Workshop:
    api = api_of(access)
    return Workshop(
        home=home,
        upstream=upstream,
        recorder=Recorder(upstream, time.time),
        launcher=Launcher(home, levels.user_namespace),
        environments=Environments(home.environments),
        machine=replace(machine, isolation=words(levels)),
        suite_folders=tuple(suites.folders()),
        api=(api.host, str(api.port)),
        now=time.time,
        levels=levels,
        links=Links(home.root / LINKS),
        memory=memory.root_of(home.root),
    )


def api_of(access: Access) -> Endpoint:
    server = urlsplit(access.server)
    return Endpoint(server.hostname or "", server.port or 443)


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
    switch.stop(str(home.run))
    homespace.stop(str(home.run))
    bases = group_bases(kept(home.run / FILE) or Levels(), home)
    sweep(bases, Links(home.root / LINKS), ())
    cgroups.remove(bases)
    return len(running)


def running_runs(folder: PodFolder) -> list[Path]:
    record = folder.record()
    return [
        folder.run_folder(name, attempt.number)
        for name in record.names
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
