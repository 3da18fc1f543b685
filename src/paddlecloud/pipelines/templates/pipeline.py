"""A template with all its values: the graph, the package of Kubeflow Pipelines, and the way to run it.

What runs here is the package that `export` writes, so that it cannot differ from what runs elsewhere.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...api.workflowgraph import Graph
from ...api.workflowrun import WorkflowRun
from ...errors import WrongUse
from ...sdk.client import Client
from ..components.all import COMPONENTS
from ..ir.writing import pipeline_spec
from ..reading import Package, package_of
from ..running import submit_package
from .description import Template, find
from .graphs import NAMESPACE, graph_of
from .parameters import NAME, Given

LONGEST_RUN = 48
"""The job is named like the run, and its pods after it."""


@dataclass(frozen=True)
class TemplatePipeline:
    template: Template
    values: Mapping[str, Given]

    @cached_property
    def graph(self) -> Graph:
        return graph_of(self.template, self.values)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The pipeline as kfp 2 would have compiled it."""
        return pipeline_spec(
            self.graph, {c.name: c for c in COMPONENTS}, description=self.template.says.description
        )

    @property
    def package(self) -> Package:
        return package_of(json.loads(json.dumps(self.spec)))

    def run(self, client: Client, namespace: str = NAMESPACE, *, name: str = "") -> WorkflowRun:
        """Start it; the run that is returned has begun, and not ended. Raises `WrongUse` for a bad name."""
        own = name or f"{self.values['name']}-{secrets.token_hex(3)}"
        if not NAME.fullmatch(own) or len(own) > LONGEST_RUN:
            raise WrongUse(
                f"{own!r} cannot be the name of a run and its job",
                next_step=f"use up to {LONGEST_RUN} small letters, digits and dashes, a letter first",
            )
        return submit_package(client, self.package, namespace, {"namespace": namespace}, own)


def pipeline_of(name: str, given: Mapping[str, object]) -> TemplatePipeline:
    """Raises `NotFound` for a template that is not there, `WrongUse` for values that do not fit."""
    template = find(name)
    return TemplatePipeline(template, template.values(given))
