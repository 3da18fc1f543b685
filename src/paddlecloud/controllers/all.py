"""The table of contents: every controller that runs on any cluster."""

from __future__ import annotations

from . import (
    kubeflowjob,
    model,
    modelversion,
    paddlejob,
    paddleservice,
    recurringrun,
    samplejob,
    sampleset,
    workflowrun,
)
from .contract import Controller

CONTROLLERS: tuple[Controller, ...] = (
    paddlejob.CONTROLLER,
    kubeflowjob.CONTROLLER,
    sampleset.CONTROLLER,
    samplejob.CONTROLLER,
    model.CONTROLLER,
    modelversion.CONTROLLER,
    paddleservice.CONTROLLER,
    paddleservice.ELASTIC,
)

ASKED_FOR: frozenset[str] = frozenset({kubeflowjob.CONTROLLER.name})
"""Those that run on a cluster only if somebody says so: another operator may be at work there."""

# On a cluster Kubeflow Pipelines runs pipelines.
EMBEDDED_ONLY: tuple[Controller, ...] = (workflowrun.CONTROLLER, recurringrun.CONTROLLER)
