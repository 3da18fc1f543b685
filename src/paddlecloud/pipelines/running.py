"""Submitting a pipeline: the package goes into a ConfigMap named by its content, the run refers to it."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from ..api.core import ConfigMap
from ..api.meta import Metadata
from ..api.workflowgraph import Graph
from ..api.workflowrun import PipelineRef, WorkflowRun, WorkflowRunSpec
from ..controllers.workflowrun import PACKAGE_KEY, known_parameters
from ..errors import AlreadyExists, WrongUse
from ..sdk.client import Client
from .reading import Package

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""Of a run: its pods carry it as a label."""
TEXT_KEY = "package.json"
"""Where the package is kept as it was written."""


def submit(
    client: Client, graph: Graph, namespace: str, *, parameters: dict[str, Any] | None = None, name: str = ""
) -> WorkflowRun:
    return submit_package(client, Package(graph, "v2", graph.wire(), graph.name), namespace, parameters, name)


def submit_package(
    client: Client,
    package: Package,
    namespace: str,
    parameters: dict[str, Any] | None = None,
    name: str = "",
) -> WorkflowRun:
    """Raises, before anything is made, `WrongUse` for parameters the pipeline does not have and for what
    is no name, and `AlreadyExists` for a name that is taken."""
    if name and not NAME.fullmatch(name):
        raise WrongUse(
            f"{name!r} cannot be the name of a run",
            next_step="take at most 63 small letters, digits and hyphens, a letter or digit at both ends",
        )
    if problem := known_parameters(package.graph, parameters or {}):
        raise WrongUse(problem)
    if name and client.find(WorkflowRun, namespace, name):
        raise AlreadyExists(
            f"there is a run {name} in namespace {namespace} already",
            next_step="choose another name, or leave it out",
        )
    reference = PipelineRef(name=package.graph.name, digest=package.graph.digest())
    # The same content has the same name: submitting again changes nothing.
    client.apply(
        ConfigMap(
            metadata=Metadata(name=reference.package, namespace=namespace),
            data={
                PACKAGE_KEY: json.dumps(package.graph.wire(), sort_keys=True),
                TEXT_KEY: json.dumps(package.text, sort_keys=True, default=str),
            },
        )
    )
    run = WorkflowRun(
        metadata=Metadata(name=name or f"{reference.name}-{secrets.token_hex(3)}", namespace=namespace),
        spec=WorkflowRunSpec(pipeline=reference, parameters=parameters or {}, generation=package.generation),
    )
    return client.create(run)
