"""Which pod, container and run a request to the node is about; what is not there is said in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from .attempts import State
from .podfolder import PodFolder, Record

FindPod = Callable[[str, str], PodFolder | None]


def pod_of(find: FindPod, request: web.Request) -> tuple[PodFolder, Record]:
    namespace, name = request.match_info["namespace"], request.match_info["pod"]
    folder = find(namespace, name)
    record = folder.record() if folder else None
    if folder is None or record is None:
        raise web.HTTPNotFound(text=f"pod {namespace}/{name} is not on this node")
    return folder, record


def container_of(find: FindPod, request: web.Request) -> tuple[PodFolder, str]:
    folder, record = pod_of(find, request)
    container = request.match_info["container"]
    if container not in record.names:
        raise web.HTTPNotFound(
            text=f"pod {record.name} has no container {container}; it has: {', '.join(record.names)}"
        )
    return folder, container


def running_folder(find: FindPod, request: web.Request) -> Path:
    """The run of a container that runs now."""
    folder, container = container_of(find, request)
    runs = folder.attempts(container)
    if not runs or runs[-1].state != State.RUNNING or not runs[-1].pid:
        raise web.HTTPInternalServerError(text=f'container not found ("{container}")')
    return folder.run_folder(container, runs[-1].number)


def log_folder(find: FindPod, request: web.Request) -> Path:
    """The run whose log is meant: the newest that has begun, or the one before it."""
    folder, container = container_of(find, request)
    pod = request.match_info["pod"]
    runs = [attempt for attempt in folder.attempts(container) if attempt.state != State.PREPARED]
    if flag(request, "previous"):
        if len(runs) < 2:
            missing = f'previous terminated container "{container}" in pod "{pod}" not found'
            raise web.HTTPBadRequest(text=missing)
        return folder.run_folder(container, runs[-2].number)
    if not runs:
        raise web.HTTPBadRequest(text=f'container "{container}" in pod "{pod}" is waiting to start')
    return folder.run_folder(container, runs[-1].number)


def flag(request: web.Request, name: str) -> bool:
    return request.query.get(name, "").lower() in ("1", "true")


def number(request: web.Request, name: str) -> int | None:
    text = request.query.get(name)
    if text is None:
        return None
    if not text.isdecimal():
        raise web.HTTPBadRequest(text=f"{name} must be a whole number, not {text!r}")
    return int(text)
