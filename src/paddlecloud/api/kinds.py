"""The list of kinds: ours, which every cluster gets, and those the embedded cluster stands in for."""

from __future__ import annotations

from .knative import KnativeService, Revision, Route
from .kubeflow import KubeflowPaddleJob
from .meta import Resource
from .model import AliasChange, Model, ModelVersion
from .paddlejob import PaddleJob
from .paddleservice import ElasticPaddleService, PaddleService
from .samplejob import SampleJob
from .sampleset import SampleSet
from .scheduling import PodGroup, Queue
from .workflowrun import StepRecords, WorkflowRun
from .workflowservice import Experiment, Pipeline, PipelineVersion, RecurringRun, StepCache

OURS: tuple[type[Resource], ...] = (
    PaddleJob,
    SampleSet,
    SampleJob,
    Model,
    ModelVersion,
    AliasChange,
    PaddleService,
    ElasticPaddleService,
    KubeflowPaddleJob,
)

# Ours among them: on a cluster Kubeflow Pipelines runs pipelines, Knative serves, Volcano places gangs.
EMBEDDED_ONLY: tuple[type[Resource], ...] = (
    WorkflowRun,
    StepRecords,
    Experiment,
    Pipeline,
    PipelineVersion,
    RecurringRun,
    StepCache,
    KnativeService,
    Revision,
    Route,
    PodGroup,
    Queue,
)
