"""The node's own little server, on a unix socket: what the API server asks it on behalf of users.

    GET /containerLogs/NAMESPACE/POD/CONTAINER?tailLines&limitBytes&sinceSeconds&follow&previous

Answers are as a kubelet gives them: plain text, or a sentence with status 400 or 404.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from aiohttp import web

from . import sockets
from .attempts import State
from .logs import LogQuery, stream
from .podfolder import PodFolder

FindPod = Callable[[str, str], PodFolder | None]
PODS: web.AppKey[FindPod] = web.AppKey("pods")


@asynccontextmanager
async def serving(path: Path, find: FindPod) -> AsyncIterator[None]:
    """Serve on the socket *path* while the context is open."""
    app = web.Application()
    app[PODS] = find
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", container_logs)
    # A log that is followed never ends by itself: a stop does not wait for it.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
    await runner.setup()
    with closing(sockets.listening(path)) as listener:
        await web.SockSite(runner, listener).start()
        try:
            yield
        finally:
            await runner.cleanup()


async def container_logs(request: web.Request) -> web.StreamResponse:
    query = query_of(request)
    folder = run_folder(request)
    answer = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
    answer.enable_chunked_encoding()
    await answer.prepare(request)
    async for piece in stream(folder, query):
        await answer.write(piece)
    await answer.write_eof()
    return answer


def run_folder(request: web.Request) -> Path:
    namespace, name, container = (request.match_info[key] for key in ("namespace", "pod", "container"))
    pod = request.app[PODS](namespace, name)
    record = pod.record() if pod else None
    if pod is None or record is None:
        raise web.HTTPNotFound(text=f"pod {namespace}/{name} is not on this node")
    known = (*record.init_containers, *record.containers)
    if container not in known:
        raise web.HTTPNotFound(text=f"pod {name} has no container {container}; it has: {', '.join(known)}")
    runs = [a for a in pod.attempts(container) if a.state != State.PREPARED]
    if flag(request, "previous"):
        if len(runs) < 2:
            raise web.HTTPBadRequest(text=f"container {container!r} in pod {name!r} has no previous run")
        return pod.run_folder(container, runs[-2].number)
    if not runs:
        raise web.HTTPBadRequest(text=f"container {container!r} in pod {name!r} is waiting to start")
    return pod.run_folder(container, runs[-1].number)


def query_of(request: web.Request) -> LogQuery:
    seconds = number(request, "sinceSeconds")
    return LogQuery(
        tail_lines=number(request, "tailLines"),
        limit_bytes=number(request, "limitBytes"),
        follow=flag(request, "follow"),
        since=None if seconds is None else time.time() - seconds,
    )


def number(request: web.Request, name: str) -> int | None:
    text = request.query.get(name)
    if text is None:
        return None
    if not text.isdecimal():
        raise web.HTTPBadRequest(text=f"{name} must be a whole number, not {text!r}")
    return int(text)


def flag(request: web.Request, name: str) -> bool:
    return request.query.get(name, "").lower() in ("1", "true")
