"""The table of contents: every controller that runs on any cluster."""

from __future__ import annotations

from . import model, modelversion, paddlejob, paddleservice, sampleset, workflowrun
from .contract import Controller

CONTROLLERS: tuple[Controller, ...] = (
    paddlejob.CONTROLLER,
    sampleset.CONTROLLER,
    model.CONTROLLER,
    modelversion.CONTROLLER,
    paddleservice.CONTROLLER,
    paddleservice.ELASTIC,
)

# On a cluster Kubeflow Pipelines runs pipelines.
EMBEDDED_ONLY: tuple[Controller, ...] = (workflowrun.CONTROLLER,)
