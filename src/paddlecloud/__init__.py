"""PaddleCloud: from data to a served PaddlePaddle model, on a laptop and on Kubernetes.

    from paddlecloud import PaddleJob, connect

    with connect() as cluster:
        for job in cluster.list(PaddleJob, "default").items:
            print(job.name, job.status.phase)

`paddlecloud.templates` has a function for each ready-made workflow. The names below are the public ones; they
are loaded when they are first used, so that a program which needs one part (a model server, say) does not pay
for the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import templates as templates
    from .api.meta import Key as Key
    from .api.meta import Metadata as Metadata
    from .api.model import AliasChange as AliasChange
    from .api.model import Model as Model
    from .api.model import ModelVersion as ModelVersion
    from .api.paddleservice import PaddleService as PaddleService
    from .api.workflowrun import WorkflowRun as WorkflowRun
    from .errors import PaddleCloudError as PaddleCloudError
    from .pipelines.building import Pipeline as Pipeline
    from .pipelines.running import submit as submit
    from .sdk.client import Client as Client
    from .sdk.connecting import connect as connect
    from .sdk.hub import move_alias as move_alias
    from .sdk.paddlejob import PaddleJob as PaddleJob
    from .sdk.sampleset import SampleJob as SampleJob
    from .sdk.sampleset import SampleSet as SampleSet
    from .sdk.sampling import ElasticBatchSampler as ElasticBatchSampler
    from .sdk.waiting import wait_for as wait_for

__version__ = "0.1.0"

_WHERE = {
    "Key": "api.meta",
    "Metadata": "api.meta",
    "AliasChange": "api.model",
    "Model": "api.model",
    "ModelVersion": "api.model",
    "PaddleJob": "sdk.paddlejob",
    "PaddleService": "api.paddleservice",
    "SampleJob": "sdk.sampleset",
    "SampleSet": "sdk.sampleset",
    "WorkflowRun": "api.workflowrun",
    "PaddleCloudError": "errors",
    "Pipeline": "pipelines.building",
    "submit": "pipelines.running",
    "Client": "sdk.client",
    "connect": "sdk.connecting",
    "ElasticBatchSampler": "sdk.sampling",
    "move_alias": "sdk.hub",
    "wait_for": "sdk.waiting",
}
_MODULES = ("templates",)
__all__ = ["__version__", "templates", *_WHERE]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
