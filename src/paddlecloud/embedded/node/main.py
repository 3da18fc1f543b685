"""The node process: all virtual nodes of one home.

It may be killed at any moment: containers belong to their shims, and the next process finds them again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from ...api.core import Node, Pod, Service
from ...api.endpoints import EndpointSlice
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.kubeconfig import Access
from ...controllers.contract import Note
from ...controllers.events import record
from ...settings import Home, value
from ..ranges import Ranges
from . import pressure, suites
from .agent import ClusterUpstream, follow_pods
from .closing import LINKS
from .environments import Environments
from .events import Recorder
from .heartbeats import Heartbeats
from .kubelet import serving
from .launcher import Launcher
from .logarchive import LogArchive, keep_sweeping
from .machine import Declared, Machine, measure
from .network import podfiles
from .network.following import Sources, follow_names, follow_services
from .network.nameserver import Nameserver, machine_resolvers
from .network.proxy import Proxy
from .network.routing import Endpoint
from .network.standing import Standing
from .network.waking import Waker
from .nodestatus import Outlook
from .podfolder import every_pod
from .roster import Roster
from .routed.network import Routed
from .routed.outside import open_outside
from .sandbox.levels import Levels, words
from .sandbox.links import Links
from .sandbox.survey import group_bases, survey
from .sandbox.sweeping import sweep
from .volumes import fuse, juicefs, memory
from .volumes.keeping import keep_files
from .workshop import Workshop

SOCKET = "node.sock"
API_PORT = "443"
"""Of the API as a Service."""
STARTS_WITHIN = 5.0  # seconds
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
        machine = replace(machine, no_fuse=fuse.why_not(home.run, os.geteuid()))
        levels = await survey(home, value("isolation"), value("network"))
        shop = workshop_of(home, access, upstream, machine, levels)
        archive = shop.archive
        assert shop.links is not None and archive is not None
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
        await listened_to(api_of(access))
        try:
            visitors: Counter[str] = Counter()
            async with serving(home.run / SOCKET, roster, shop, visitors), asyncio.TaskGroup() as tasks:
                tasks.create_task(nodes.run())
                tasks.create_task(keep_sweeping(archive))
                tasks.create_task(heartbeats.run())
                tasks.create_task(pods.run())
                tasks.create_task(sources.services.run())
                tasks.create_task(sources.slices.run())
                tasks.create_task(follow_pods(pods, roster))
                tasks.create_task(keep_files(access, roster, shop))
                waker = Waker(client)
                proxy = Proxy(reach, waker.wake, visitors)
                tasks.create_task(follow_services(sources, proxy, partial(tell_closed, client)))
                tasks.create_task(waker.let_sleep(proxy))
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


async def tell_closed(client: Client, who: Service | Pod, why: str) -> None:
    await record(client, who, Note("Warning", "PortClosed", why), "node", datetime.now(UTC))


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
    environments, suite_folders = Environments(home.environments), tuple(suites.folders())
    client = juicefs.client_of(environments, suite_folders)
    return Workshop(
        home=home,
        upstream=upstream,
        recorder=Recorder(upstream, time.time),
        launcher=Launcher(home, levels.user_namespace),
        environments=environments,
        machine=replace(machine, isolation=words(levels)),
        suite_folders=suite_folders,
        api=(api.host, str(api.port)),
        now=time.time,
        levels=levels,
        links=Links(home.root / LINKS),
        memory=memory.root_of(home.root),
        plugins={juicefs.DRIVER: juicefs.JuicefsPlugin(home, client, machine.no_fuse)},
        archive=LogArchive(home.pod_logs, time.time),
    )


async def listened_to(api: Endpoint) -> None:
    """Return once the API listens, which may start beside us, or when it takes too long to wait for.

    Without this the first words to it would only fail and pause.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STARTS_WITHIN):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection(*api)
                    writer.close()
                    return
                await asyncio.sleep(0.01)


def api_of(access: Access) -> Endpoint:
    server = urlsplit(access.server)
    return Endpoint(server.hostname or "", server.port or 443)
