"""The walk from data to a served model and its successor, as one pipeline of our components; pure.

    deposit ▸ dataset ▸ warm-up ▸ training ▸ first-version ▸ serving ▸ first-requests
            ▸ second-version ▸ canary ▸ shared-requests ▸ promotion ▸ last-requests

The first version is an early checkpoint of the training, the second one its end, so that one job gives a
release something to be better at. What runs is the package as kfp 2 would have compiled it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..api.workflowrun import Binding, Graph
from .building import Pipeline
from .components import (
    canary,
    dataset,
    deposit,
    modelhub,
    promotion,
    requests,
    samplejob,
    serving,
    training,
)
from .components.all import COMPONENTS
from .ir.writing import pipeline_spec

NAME = "walk"
STORE_KEYS = "model-store"
"""The Secret with the keys of the object store, in the namespace of the pipelines."""


@dataclass(frozen=True)
class Way:
    """What differs from one walk to another."""

    model: str
    image: str
    samples: str
    """What make_data.py of the suite is told."""
    epochs: int
    workers: int = 2
    servers: int = 0
    """Parameter servers; 0: the workers share what they learn among themselves."""
    percent: int = 30
    """The canary's share."""

    @property
    def early(self) -> int:
        """The epoch whose checkpoint becomes the first version."""
        return max(1, self.epochs // 4)


def walk(namespace: str, way: Way) -> Graph:
    """Every object is named after the model; the job, which is another one each time, by a parameter."""
    pipeline = Pipeline(NAME, job=way.model)
    job, model, claim = pipeline.parameter("job"), way.model, f"{way.model}-task-center"
    drawn = pipeline.add(
        deposit.COMPONENT, name=model, namespace=namespace, image=way.image, arguments=way.samples,
        secret=STORE_KEYS,
    )  # fmt: skip
    data = pipeline.add(
        dataset.COMPONENT, name=model, namespace=namespace, source_uri=drawn.output("uri"),
        source_secret=STORE_KEYS,
    )  # fmt: skip
    warm = pipeline.add(
        samplejob.COMPONENT, step="warm-up", after=(data,), name=job, namespace=namespace, type="warmup",
        action="apply", sampleset_ref=json.dumps({"name": model}), delete_after_done=True,
    )  # fmt: skip
    trained = pipeline.add(
        training.COMPONENT, after=(warm,), name=job, namespace=namespace, image=way.image,
        arguments=f"--epochs {way.epochs} --early {way.early}", dataset=data.output("name"), pvc_name=claim,
        worker_replicas=way.workers, ps_replicas=way.servers, use_visualdl=True, clean_pod_policy="Never",
    )  # fmt: skip
    origin: dict[str, Any] = {
        "model_name": model, "namespace": namespace, "pvc_name": claim, "dataset": data.output("name"),
        "dataset_revision": data.output("revision"), "job": trained.output("name"),
    }  # fmt: skip
    early = Binding(template=f"{{{{output.training.name}}}}/epoch-{way.early}")
    first = pipeline.add(modelhub.COMPONENT, step="first-version", path=early, **origin)
    served = pipeline.add(
        serving.COMPONENT, name=model, namespace=namespace, model_name=model,
        model_version=first.output("version"),
    )  # fmt: skip
    asking: dict[str, Any] = {
        "name": served.output("name"), "namespace": namespace, "questions": drawn.output("questions"),
    }  # fmt: skip
    asked = pipeline.add(requests.COMPONENT, step="first-requests", **asking)
    second = pipeline.add(
        modelhub.COMPONENT, step="second-version", after=(asked,), path=trained.output("model_path"),
        metrics=trained.output("metrics"), **origin,
    )  # fmt: skip
    tried = pipeline.add(
        canary.COMPONENT, name=model, namespace=namespace, model_name=model,
        model_version=second.output("version"), percent=way.percent,
    )  # fmt: skip
    shared = pipeline.add(requests.COMPONENT, step="shared-requests", after=(tried,), **asking)
    promoted = pipeline.add(
        promotion.COMPONENT, after=(shared,), name=model, namespace=namespace,
        model_version=tried.output("version"),
    )  # fmt: skip
    pipeline.add(requests.COMPONENT, step="last-requests", after=(promoted,), **asking)
    return pipeline.graph()


def package(graph: Graph) -> dict[str, Any]:
    """The package that is submitted: what kfp 2 would have compiled."""
    return pipeline_spec(
        graph, {c.name: c for c in COMPONENTS}, description="From data to a served model and its successor."
    )
