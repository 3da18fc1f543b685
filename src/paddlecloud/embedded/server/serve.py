"""Runs the API of one home: opens the store, prepares it, listens on loopback with TLS.

The platform's own processes come by a socket in a folder that only its user enters: seventy watches under TLS
would cost ten megabytes more.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import ssl
from collections.abc import AsyncIterator

from aiohttp import web

from ... import localsockets, log
from ...errors import Failed, Unavailable
from ...settings import Home
from ..identity import Identity
from ..store import Store
from . import aggregation, bootstrap, ownservice, registration
from .access import Access
from .addresses import ServiceAddresses
from .app import Api
from .objects import Objects
from .streams import NodeStreams

COMPACT_EVERY = 300.0
IDLE = 90.0  # seconds in which a connection must bring its next request, head and all
LINGER = 2.0  # seconds for the rest of a body that was refused: a client that still writes does not read
LONGEST = 64 * 1024  # bytes of a path with its query, and of one header
WAITING = 1024  # connections that may wait to be accepted
LOG = log.logger("api")


@contextlib.asynccontextmanager
async def serving(home: Home, identity: Identity) -> AsyncIterator[Objects]:
    """The API is up inside this block; the keys must have been made (`identity.establish`)."""
    allow_files()
    store = Store(home.store)
    streams = NodeStreams(home.run / "node.sock", store.get)
    addresses = ServiceAddresses(store, identity.ranges)
    await addresses.settle()
    objects = Objects(store, addresses.allocate)
    await bootstrap.prepare(objects)
    server = Api(objects, Access(home.pki, store), streams).server(
        access_log=None,
        # A body counts as it comes: nothing small is blown up into something large.
        auto_decompress=False,
        keepalive_timeout=IDLE,
        # Selectors and tokens may be long.
        max_line_size=LONGEST,
        max_field_size=LONGEST,
        lingering_time=LINGER,
    )
    # A watcher must not hold up the end of the process.
    runner = web.ServerRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, localsockets.listening(home.api_socket, WAITING), backlog=WAITING).start()
    site = web.TCPSite(
        runner,
        "127.0.0.1",
        identity.api_port,
        ssl_context=tls(home),
        reuse_address=True,
        backlog=WAITING,
    )
    try:
        await site.start()
    except OSError as error:
        raise Failed(
            f"port {identity.api_port} is in use by another program",
            next_step="choose another with `pdc up --port N`",
        ) from error
    LOG.info("serving %s at revision %d", identity.server, store.revision)
    housekeeping = asyncio.create_task(compact_forever(store))
    try:
        async with (
            aggregation.kept(objects),
            registration.kept(objects),
            ownservice.kept(objects, identity),
        ):
            yield objects
    finally:
        housekeeping.cancel()
        # Closing the store first ends the watches, which would otherwise outlast the listener.
        await store.close()
        await runner.cleanup()
        await streams.close()


async def run(home: Home, identity: Identity) -> None:
    """Serve until cancelled."""
    async with serving(home, identity):
        await asyncio.Event().wait()


async def compact_forever(store: Store) -> None:
    while True:
        await asyncio.sleep(COMPACT_EVERY)
        try:
            store.compact_if_due()
        except Unavailable as error:
            LOG.warning("will try again: %s", error.message)


def allow_files() -> None:
    """As many open files as the machine lets us have: every watcher is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def tls(home: Home) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(home.pki / "server.crt", home.pki / "server.key")
    # A certificate may be shown; one that is not of our authority ends the handshake.
    context.load_verify_locations(home.pki / "ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context
