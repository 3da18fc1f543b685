"""A client of the pipelines service, in the words of its API v2beta1: what kfp 2 says to start a run."""

from __future__ import annotations

import json
from typing import Any

import urllib3

from ..api.workflowrun import WorkflowRun
from ..controllers.workflowrun import ID_LABEL
from ..errors import Failed, NotFound, Unreachable
from .client import Client

NAMESPACE = "kubeflow"
ANSWER_WITHIN = 60.0
Body = dict[str, Any]


def start_run(service: str, package: Body, parameters: Body, name: str) -> str:
    """The id of the run. Raises `Failed` with the words of a service that refuses."""
    run = {"display_name": name, "pipeline_spec": package, "runtime_config": {"parameters": parameters}}
    return str(said(service, "POST", "runs", run)["run_id"])


def said(service: str, method: str, path: str, body: Body | None = None) -> Body:
    url = f"{service.rstrip('/')}/apis/v2beta1/{path}"
    again = urllib3.Retry(connect=3, backoff_factor=0.2)
    try:
        answer = urllib3.request(method, url, json=body, retries=again, timeout=ANSWER_WITHIN)
    except urllib3.exceptions.HTTPError as error:
        raise Unreachable(f"the pipelines service {service} does not answer: {error}") from error
    try:
        told: Body = json.loads(answer.data or b"{}")
    except ValueError as error:
        raise Failed(f"{service} does not answer like a pipelines service: {error}") from error
    if answer.status >= 400:
        raise Failed(f"the pipelines service refused: {told.get('error') or answer.status}")
    return told


def run_of(client: Client, id: str) -> WorkflowRun:
    """The object behind a run of the service."""
    found = client.list(WorkflowRun, NAMESPACE, labels={ID_LABEL: id}).items
    if not found:
        raise NotFound(f"there is no run {id}")
    return found[0]
