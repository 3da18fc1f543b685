"""The gateway: one address in front of all services of a cluster, which it follows.

The routing table is made anew when something changed and a request asks for it, never for each change.
Beside it works the autoscaler, which sees the same requests.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack

from aiohttp import web

from .. import log
from ..api.apps import Deployment
from ..api.core import Pod
from ..api.knative import REVISION_LABEL, KnativeService, Revision
from ..cluster.client import Client
from ..cluster.informer import Informer
from ..cluster.kubeconfig import Access
from ..errors import Failed, Unavailable
from . import tally
from .autoscaling import Autoscaler
from .proxy import Proxy
from .routes import Cluster, Table, table

_log = log.logger("gateway")
IDLE = 75.0
"""Seconds a connection may be silent; longer than clients keep one, so that they hang up first."""


class Routes:
    """The routing table of a cluster, as of the last change seen; *changed* hears of every change."""

    def __init__(self, client: Client) -> None:
        self.services = Informer(client, KnativeService)
        self.revisions = Informer(client, Revision)
        # The pods of everybody else are many and none of its business.
        self.pods = Informer(client, Pod, labels=REVISION_LABEL)
        self.deployments = Informer(client, Deployment, labels=REVISION_LABEL)
        self.changed: Callable[[], None] = lambda: None
        self._table: Table | None = None
        self._informers = (self.services, self.revisions, self.pods, self.deployments)
        for informer in self._informers:
            informer.subscribe(self._changed)

    def current(self) -> Table:
        """Raises `Unavailable` before the cluster was seen: no service is unknown until then."""
        if not all(informer.synced.is_set() for informer in self._informers):
            raise Unavailable("the gateway has just started and does not know the services yet; ask again")
        if self._table is None:
            self._table = table(
                Cluster(self.services.all(), self.revisions.all(), self.pods.all(), self.deployments.all())
            )
        return self._table

    async def follow(self) -> None:
        """Keep current until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers:
                tasks.create_task(informer.run())

    def _changed(self, _: object, __: object) -> None:
        self._table = None
        self.changed()


def runner_of(app: web.Application, idle: float = IDLE) -> web.AppRunner:
    """Whoever does not bring the head of a request within *idle* seconds is hung up on."""
    return web.AppRunner(app, access_log=None, shutdown_timeout=5, keepalive_timeout=idle)


async def run(
    access: Access,
    host: str,
    port: int,
    on_bound: Callable[[int], None] = lambda port: None,
    sockets: Callable[..., socket.socket] | None = None,
) -> None:
    """Be the gateway until cancelled; *on_bound* hears the port (0 takes any free one).

    *sockets* makes those that reach pods, where not every socket does. Raises `Failed` when the port is
    taken.
    """
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(access))
        routes = Routes(client)
        autoscaler = Autoscaler(client, routes.revisions, routes.deployments, routes.services)
        proxy = Proxy(routes.current, sockets=sockets, wake=autoscaler.wake)
        routes.changed = proxy.lanes.changed
        runner = runner_of(proxy.app())
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise Failed(
                f"the gateway cannot listen on {host}:{port}: {error.strerror}",
                next_step="end what uses the port, or choose another one",
            ) from error
        bound = int(runner.addresses[0][1])
        _log.info("listening on %s:%d", host, bound)
        on_bound(bound)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(routes.follow())
            tasks.create_task(autoscaler.run(proxy.lanes, routes.current))
            tasks.create_task(tally.tell(client, routes.current, proxy.lanes.lanes))
