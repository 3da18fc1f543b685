"""The node's own little server, on a unix socket: what the API server asks it on behalf of users.

    GET /containerLogs/NAMESPACE/POD/CONTAINER?tailLines&limitBytes&sinceSeconds&follow&previous&timestamps
    GET /containerRecords/NAMESPACE/POD/CONTAINER                  what VisualDL wrote, see `records`
    GET /keptLogs/NAMESPACE/POD?uid&container&…                    of a pod that is gone, see `logarchive`
    GET /keptPods/NAMESPACE?owner=KIND/NAME                        which there are, as JSON
    GET /exec/NAMESPACE/POD/CONTAINER?command=…&stdin&stdout&stderr&tty      a WebSocket, see `dialects`
    GET /attach/NAMESPACE/POD/CONTAINER?stdin&stdout&stderr&tty              the same
    GET /portForward/NAMESPACE/POD                                           a WebSocket, see `forwarding`
    *   /proxy/NAMESPACE/POD/SCHEME/PORT/PATH                                the same request to the pod
    GET /nodes/NODE/{healthz,pods,stats/summary,metrics}

Answers are as a kubelet gives them: plain text, or a sentence with status 400, 404 or 500. Whoever reaches
the socket may ask everything: the API server has asked who it is and whether they may.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from aiohttp import web

from ... import localsockets
from .dialing import Ways
from .forwarding import Forwarding
from .logserving import KeptLogs, Logs
from .measuring import Measuring
from .podproxy import PodProxy
from .records import Records
from .roster import Roster
from .sessions import Sessions
from .summaries import Summaries
from .workshop import Workshop


@asynccontextmanager
async def serving(
    path: Path, roster: Roster, shop: Workshop, visitors: Counter[str] | None = None
) -> AsyncIterator[None]:
    """Serve on the socket *path* while the context is open; *visitors* counts who is at a pod's ports."""
    app, launcher = web.Application(), shop.launcher
    find = roster.find
    sessions = Sessions(find, launcher)
    network = shop.network
    ways = Ways(launcher, network.reach if network.separate else None)
    summaries = Summaries(Measuring(roster.folders, time.time), roster.pods)
    records = Records(find)
    container = "{namespace}/{pod}/{container}"
    app.router.add_get(f"/containerLogs/{container}", Logs(find).answer)
    app.router.add_get(f"/containerRecords/{container}", records.answer)
    if shop.archive:
        kept = KeptLogs(shop.archive, find)
        app.router.add_get("/keptLogs/{namespace}/{pod}", kept.log)
        app.router.add_get("/keptPods/{namespace}", kept.pods)
    app.router.add_get(f"/exec/{container}", sessions.execute)
    app.router.add_get(f"/attach/{container}", sessions.attach)
    forwarding = Forwarding(find, ways, Counter() if visitors is None else visitors)
    app.router.add_get("/portForward/{namespace}/{pod}", forwarding.forward)
    app.router.add_route(
        "*", "/proxy/{namespace}/{pod}/{scheme}/{port}/{path:.*}", PodProxy(find, ways).answer
    )
    app.router.add_get("/nodes/{node}/{path:.*}", summaries.answer)
    # A log that is followed never ends by itself: a stop does not wait for it.
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True, auto_decompress=False
    )
    await runner.setup()
    with closing(localsockets.listening(path)) as listener:
        await web.SockSite(runner, listener).start()
        try:
            yield
        finally:
            await runner.cleanup()
            records.close()
