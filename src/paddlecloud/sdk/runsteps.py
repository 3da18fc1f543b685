"""A run with all its steps: those of a run with many lie beside it."""

from __future__ import annotations

from ..api.workflowrun import StepRecords, WorkflowRun
from ..controllers.workflowpods import RUN_LABEL
from ..controllers.workflowrecords import gathered
from .client import Client


def whole(client: Client, run: WorkflowRun) -> WorkflowRun:
    if not run.status.records:
        return run
    return gathered(run, client.list(StepRecords, run.namespace, labels={RUN_LABEL: run.name}).items)
