"""Logs over the node's socket: of the containers of a pod, and of pods that are gone.

What is asked is read the same way for both; only where the files lie differs.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web

from .logarchive import KeptPod, LogArchive
from .logs import LogQuery, stream
from .podfolder import PodFolder
from .targets import FindPod, flag, log_folder, number


class Logs:
    def __init__(self, find: FindPod) -> None:
        self._find = find

    async def answer(self, request: web.Request) -> web.StreamResponse:
        query = query_of(request)
        return await poured(request, log_folder(self._find, request), query)


class KeptLogs:
    """Of pods that are gone; nothing is added to their logs any more, so that nobody follows them.

    The API forgets a pod that has ended before the node removes it: until then its files are as they were.
    """

    def __init__(self, archive: LogArchive, find: FindPod) -> None:
        self._archive, self._find = archive, find

    async def log(self, request: web.Request) -> web.StreamResponse:
        query = query_of(request, follow=False)
        namespace, name = request.match_info["namespace"], request.match_info["pod"]
        uid = request.query.get("uid", "")
        pod = await asyncio.to_thread(self._archive.find, namespace, name, uid)
        if pod is None and (run := leaving_run(self._find(namespace, name), uid, request)):
            return await poured(request, run, query)
        # It may have gone in between.
        pod = pod or await asyncio.to_thread(self._archive.find, namespace, name, uid)
        if pod is None:
            raise web.HTTPNotFound(text=f"no log of a pod {name} is kept in namespace {namespace}")
        return await poured(request, kept_run(pod, request), query)

    async def pods(self, request: web.Request) -> web.Response:
        owner = request.query.get("owner", "")
        found = await asyncio.to_thread(self._archive.owned, request.match_info["namespace"], owner)
        return web.json_response({"items": [told(pod) for pod in found]})


def kept_run(pod: KeptPod, request: web.Request) -> Path:
    """The run that is meant: the last of the container that is named, or the one before it."""
    container = request.query.get("container") or pod.record.containers[0]
    runs, back = pod.runs(container), 2 if flag(request, "previous") else 1
    if len(runs) < back:
        which = f"{'previous ' if back == 2 else ''}log of container {container}"
        raise web.HTTPNotFound(text=f"no {which} of pod {pod.record.name} is kept")
    return runs[-back]


def leaving_run(folder: PodFolder | None, uid: str, request: web.Request) -> Path | None:
    """The same of a pod that is still being removed."""
    record = folder.record() if folder else None
    if folder is None or record is None or uid not in ("", record.uid):
        return None
    container = request.query.get("container") or record.containers[0]
    runs = folder.attempts(container) if container in record.names else []
    back = 2 if flag(request, "previous") else 1
    return folder.run_folder(container, runs[-back].number) if len(runs) >= back else None


def told(pod: KeptPod) -> dict[str, str]:
    removed = datetime.fromtimestamp(int(pod.removed_at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = pod.record
    return {"name": record.name, "uid": record.uid, "owner": record.owner, "removedAt": removed}


async def poured(request: web.Request, folder: Path, query: LogQuery) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
    answer.enable_chunked_encoding()
    await answer.prepare(request)
    async for piece in stream(folder, query):
        await answer.write(piece)
    await answer.write_eof()
    return answer


def query_of(request: web.Request, follow: bool = True) -> LogQuery:
    return LogQuery(
        tail_lines=number(request, "tailLines"),
        limit_bytes=number(request, "limitBytes"),
        follow=follow and flag(request, "follow"),
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
