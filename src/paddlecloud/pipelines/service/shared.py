"""What the handlers of both generations have in common: a call, and reading packages from it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ...api.workflowrun import RunPhase, WorkflowRun
from ...errors import BadRequest, Conflict
from ..reading import Package, package_of, read_package
from .shelf import Shelf

Body = dict[str, Any]


@dataclass(frozen=True)
class Upload:
    """A file that came with a request."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Call:
    shelf: Shelf
    query: dict[str, str]
    body: Body
    upload: Upload | None = None

    def text(self, name: str) -> str:
        """A field of the body as a text; empty when it is not there."""
        return str(self.body.get(name) or "")


Handler = Callable[..., Awaitable[Body]]


def uploaded(call: Call) -> Package:
    if call.upload is None:
        raise BadRequest("no file came with the request", next_step="send it as the part `uploadfile`")
    return read_package(call.upload.content, call.upload.name or "the package")


def of_spec(spec: Any) -> Package:
    """The package in a request: an object, or a Workflow as a text."""
    if isinstance(spec, str):
        try:
            spec = json.loads(spec)
        except ValueError as error:
            raise BadRequest(f"the workflow manifest is no JSON: {error}") from error
    if not isinstance(spec, dict):
        raise BadRequest("the request holds no pipeline")
    return package_of(spec)


async def stop(call: Call, run: WorkflowRun) -> Body:
    if not run.status.phase.final:
        await call.shelf.change(run, {"stop": True})
    return {}


async def retry(call: Call, run: WorkflowRun) -> Body:
    if run.status.phase not in (RunPhase.FAILED, RunPhase.CANCELED):
        raise Conflict(f"run {run.name} is {run.status.phase.value}; only one that failed can be tried again")
    await call.shelf.change(run, {"retries": run.spec.retries + 1, "stop": False, "retryFrom": ""})
    return {}


async def archive(call: Call, obj: Any, archived: bool) -> Body:
    await call.shelf.change(obj, {"archived": archived})
    return {}
