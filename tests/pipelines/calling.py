"""Calls of the pipelines service as its routes take them, without a socket between."""

from __future__ import annotations

from typing import Any

from tests.properties.plays import ROOT_CA

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.api.workflowservice import Experiment, Pipeline, PipelineVersion, RecurringRun
from paddlecloud.pipelines.service.answering import route
from paddlecloud.pipelines.service.shared import Call, Upload
from paddlecloud.pipelines.service.shelf import Shelf

KINDS = (Experiment, Pipeline, PipelineVersion, WorkflowRun, RecurringRun, ConfigMap)


async def call(
    shelf: Shelf, method: str, path: str, body: Any = None, *, file: bytes | None = None, **query: str
) -> Any:
    handler, names = route(method, f"/apis/{path}")
    upload = Upload("it.yaml", file) if file is not None else None
    return await handler(Call(shelf, query, body or {}, upload), *names)


async def everything(shelf: Shelf) -> list[str]:
    """What the service has made in its namespace."""
    return [o.name for kind in KINDS for o in await shelf.all(kind) if o.name != ROOT_CA]
