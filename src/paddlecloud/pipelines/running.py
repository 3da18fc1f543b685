"""Submitting a pipeline: the package goes into a ConfigMap named by its content, the run refers to it."""

from __future__ import annotations

import json
import secrets

from ..api.core import ConfigMap
from ..api.meta import Metadata
from ..api.workflowrun import Graph, PipelineRef, WorkflowRun, WorkflowRunSpec
from ..controllers.workflowrun import PACKAGE_KEY
from ..sdk.client import Client


def submit(
    client: Client, graph: Graph, namespace: str, *, parameters: dict[str, str] | None = None, name: str = ""
) -> WorkflowRun:
    reference = PipelineRef(name=graph.name, digest=graph.digest())
    # The same content has the same name: submitting again changes nothing.
    client.apply(
        ConfigMap(
            metadata=Metadata(name=reference.package, namespace=namespace),
            data={PACKAGE_KEY: json.dumps(graph.wire(), sort_keys=True)},
        )
    )
    run = WorkflowRun(
        metadata=Metadata(name=name or f"{graph.name}-{secrets.token_hex(3)}", namespace=namespace),
        spec=WorkflowRunSpec(pipeline=reference, parameters=parameters or {}),
    )
    return client.create(run)
