"""The list of kinds: ours, which every cluster gets, and those the embedded cluster stands in for."""

from __future__ import annotations

from .knative import KnativeService, Revision
from .meta import Resource
from .model import AliasChange, Model, ModelVersion
from .paddlejob import PaddleJob
from .paddleservice import ElasticPaddleService, PaddleService
from .samplejob import SampleJob
from .sampleset import SampleSet
from .workflowrun import WorkflowRun

OURS: tuple[type[Resource], ...] = (
    PaddleJob,
    SampleSet,
    SampleJob,
    Model,
    ModelVersion,
    AliasChange,
    PaddleService,
    ElasticPaddleService,
)

# WorkflowRun too: on a cluster Kubeflow Pipelines runs pipelines, Knative serves.
EMBEDDED_ONLY: tuple[type[Resource], ...] = (WorkflowRun, KnativeService, Revision)
