"""The gateway: one address in front of all services of a cluster, which it follows.

The routing table is made anew when something changed and a request asks for it, never for each change.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack

from aiohttp import web

from .. import log
from ..api.core import Pod
from ..api.knative import KnativeService, Revision
from ..cluster.client import Client
from ..cluster.informer import Informer
from ..cluster.kubeconfig import Access
from ..errors import Failed, Unavailable
from .proxy import Proxy
from .routes import REVISION_LABEL, Table, table

_log = log.logger("gateway")


class Routes:
    """The routing table of a cluster, as of the last change seen."""

    def __init__(self, client: Client) -> None:
        self.services = Informer(client, KnativeService)
        self.revisions = Informer(client, Revision)
        # The pods of everybody else are many and none of its business.
        self.pods = Informer(client, Pod, labels=REVISION_LABEL)
        self._table: Table | None = None
        self._informers = (self.services, self.revisions, self.pods)
        for informer in self._informers:
            informer.subscribe(self._changed)

    def current(self) -> Table:
        """Raises `Unavailable` before the cluster was seen: no service is unknown until then."""
        if not all(informer.synced.is_set() for informer in self._informers):
            raise Unavailable("the gateway has just started and does not know the services yet; ask again")
        if self._table is None:
            self._table = table(self.services.all(), self.revisions.all(), self.pods.all())
        return self._table

    async def follow(self) -> None:
        """Keep current until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers:
                tasks.create_task(informer.run())

    def _changed(self, _: object, __: object) -> None:
        self._table = None


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
        app = Proxy(routes.current, sockets=sockets).app()
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
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
        await routes.follow()
