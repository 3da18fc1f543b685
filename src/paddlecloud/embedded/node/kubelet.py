"""The node's own little server, on a unix socket: what the API server asks it on behalf of users.

    GET /containerLogs/NAMESPACE/POD/CONTAINER?tailLines&limitBytes&sinceSeconds&follow&previous&timestamps
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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web

from . import sockets
from .forwarding import Forwarding
from .launcher import Launcher
from .logs import LogQuery, stream
from .measuring import Measuring
from .podproxy import PodProxy
from .roster import Roster
from .sessions import Sessions
from .summaries import Summaries
from .targets import FindPod, flag, log_folder, number

PODS: web.AppKey[FindPod] = web.AppKey("pods")


@asynccontextmanager
async def serving(path: Path, roster: Roster, launcher: Launcher) -> AsyncIterator[None]:
    """Serve on the socket *path* while the context is open."""
    app = web.Application()
    app[PODS] = find = roster.find
    sessions = Sessions(find, launcher)
    summaries = Summaries(Measuring(roster.folders, time.time), roster.pods)
    container = "{namespace}/{pod}/{container}"
    app.router.add_get(f"/containerLogs/{container}", container_logs)
    app.router.add_get(f"/exec/{container}", sessions.execute)
    app.router.add_get(f"/attach/{container}", sessions.attach)
    app.router.add_get("/portForward/{namespace}/{pod}", Forwarding(find, launcher).forward)
    app.router.add_route(
        "*", "/proxy/{namespace}/{pod}/{scheme}/{port}/{path:.*}", PodProxy(find, launcher).answer
    )
    app.router.add_get("/nodes/{node}/{path:.*}", summaries.answer)
    # A log that is followed never ends by itself: a stop does not wait for it.
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True, auto_decompress=False
    )
    await runner.setup()
    with closing(sockets.listening(path)) as listener:
        await web.SockSite(runner, listener).start()
        try:
            yield
        finally:
            await runner.cleanup()


async def container_logs(request: web.Request) -> web.StreamResponse:
    query = query_of(request)
    folder = log_folder(request.app[PODS], request)
    answer = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
    answer.enable_chunked_encoding()
    await answer.prepare(request)
    async for piece in stream(folder, query):
        await answer.write(piece)
    await answer.write_eof()
    return answer


def query_of(request: web.Request) -> LogQuery:
    return LogQuery(
        tail_lines=number(request, "tailLines"),
        limit_bytes=number(request, "limitBytes"),
        follow=flag(request, "follow"),
        since=since_of(request),
        timestamps=flag(request, "timestamps"),
    )


def since_of(request: web.Request) -> str:
    """The time from which on lines are wanted, as the log writes it."""
    seconds, moment = number(request, "sinceSeconds"), request.query.get("sinceTime")
    if seconds is not None:
        return log_time(datetime.now(UTC) - timedelta(seconds=seconds))
    if not moment:
        return ""
    try:
        return log_time(datetime.fromisoformat(moment).astimezone(UTC))
    except ValueError:
        raise web.HTTPBadRequest(text=f"sinceTime must be a time as in RFC 3339, not {moment!r}") from None


def log_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"
