"""The gateway: one address in front of all services of a cluster, which it follows.

The routing table is brought up to date when something changed and a request asks for it, never for each
change, and in what changed alone: a hundred services that wake together are not a hundred whole tables.
Beside it works the autoscaler, which sees the same requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack

from aiohttp import web

from .. import log
from ..api.apps import Deployment
from ..api.core import Pod
from ..api.knative import REVISION_LABEL, KnativeService, Revision
from ..api.meta import Key
from ..cluster.client import Client
from ..cluster.informer import Informer
from ..cluster.kubeconfig import Access
from ..errors import Unavailable
from . import tally
from .autoscaling import Autoscaler
from .proxy import Proxy
from .routes import Changed, Cluster, Table, revision_of, table

_log = log.logger("gateway")
WAITING = 1024
"""Connections that may wait to be accepted."""
KNOWN_WITHIN = 5.0
"""Seconds to see the services before those who call are told that they must ask again."""
IDLE = 75.0
"""Seconds a connection may be silent; longer than clients keep one, so that they hang up first."""


class Routes:
    """The routing table of a cluster, as of the last change seen; *moved* hears whose pods are others."""

    def __init__(self, client: Client) -> None:
        self.services = Informer(client, KnativeService)
        self.revisions = Informer(client, Revision)
        # The pods of everybody else are many and none of its business.
        self.pods = Informer(client, Pod, labels=REVISION_LABEL)
        self.deployments = Informer(client, Deployment, labels=REVISION_LABEL)
        self.moved: Callable[[Key], None] = lambda revision: None
        self._table, self._changed = Table({}), Changed()
        self._informers = (self.services, self.revisions, self.pods, self.deployments)
        self.services.subscribe(self._service_changed)
        self.revisions.subscribe(lambda old, new: self._revision_changed(*(o.key for o in (old, new) if o)))
        for informer in (self.pods, self.deployments):
            informer.subscribe(
                lambda old, new: self._revision_changed(*(revision_of(o) for o in (old, new) if o))
            )

    def current(self) -> Table:
        """Raises `Unavailable` before the cluster was seen: no service is unknown until then."""
        if not all(informer.synced.is_set() for informer in self._informers):
            raise Unavailable("the gateway has just started and does not know the services yet; ask again")
        changed = self._changed
        if changed.services or changed.revisions:
            self._table, self._changed = self._table.but(changed, table(self._of(changed))), Changed()
        return self._table

    def _of(self, changed: Changed) -> Cluster:
        """The objects of which the changed part of the table is made."""
        named = [(key.namespace, ((REVISION_LABEL, key.name),)) for key in changed.revisions]
        return Cluster(
            [s for key in changed.services if (s := self.services.get(key))],
            [r for key in changed.revisions if (r := self.revisions.get(key))],
            [pod for place in named for pod in self.pods.labelled(*place)],
            [d for place in named for d in self.deployments.labelled(*place)],
        )

    async def known(self) -> None:
        """Returns when the cluster was seen."""
        for informer in self._informers:
            await informer.synced.wait()

    async def follow(self) -> None:
        """Keep current until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers:
                tasks.create_task(informer.run())

    def _service_changed(self, old: KnativeService | None, new: KnativeService | None) -> None:
        self._changed.services.update(s.key for s in (old, new) if s)

    def _revision_changed(self, *revisions: Key) -> None:
        self._changed.revisions.update(revisions)
        for revision in set(revisions):
            self.moved(revision)


def runner_of(app: web.Application, idle: float = IDLE) -> web.AppRunner:
    """Whoever does not bring the head of a request within *idle* seconds is hung up on."""
    return web.AppRunner(app, access_log=None, shutdown_timeout=5, keepalive_timeout=idle)


async def run(
    access: Access, listener: socket.socket, sockets: Callable[..., socket.socket] | None = None
) -> None:
    """Be the gateway at *listener* until cancelled.

    Whoever calls before the services are known waits, as the listener was there before. *sockets* makes those
    that reach pods, where not every socket does.
    """
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(access))
        routes = Routes(client)
        autoscaler = Autoscaler(client, routes.revisions, routes.deployments, routes.services)
        proxy = Proxy(routes.current, sockets=sockets, wake=autoscaler.wake)
        routes.moved = proxy.lanes.moved
        runner = runner_of(proxy.app())
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(routes.follow())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(routes.known(), KNOWN_WITHIN)
            await web.SockSite(runner, listener, backlog=WAITING).start()
            _log.info("listening on %s:%d", *listener.getsockname()[:2])
            tasks.create_task(autoscaler.run(proxy.lanes, routes.current))
            tasks.create_task(tally.tell(client, routes.current, proxy.lanes.lanes))
