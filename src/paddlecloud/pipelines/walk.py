"""The walk from data to a served model, as one pipeline of four components."""

from __future__ import annotations

from dataclasses import dataclass

from ..api.workflowrun import Graph
from .building import Pipeline
from .components import dataset, modelhub, serving, training


@dataclass(frozen=True)
class Crew:
    """Who trains."""

    workers: int = 2
    servers: int = 0
    """Parameter servers; 0: the workers share what they learn among themselves."""


def walk(namespace: str, source: str, *, model: str, image: str, arguments: str, crew: Crew) -> Graph:
    """Data from *source*, trained by *crew*, stored as the newest version of *model*, served."""
    with Pipeline("walk", source=source, job=model) as pipeline:
        data = pipeline.add(
            dataset.COMPONENT, name=model, namespace=namespace, source_uri=pipeline.parameter("source")
        )
        job = pipeline.add(
            training.COMPONENT,
            name=pipeline.parameter("job"),
            namespace=namespace,
            image=image,
            arguments=arguments,
            dataset=data.output("name"),
            pvc_name=f"{model}-task-center",
            worker_replicas=crew.workers,
            ps_replicas=crew.servers,
            clean_pod_policy="Never",
        )
        version = pipeline.add(
            modelhub.COMPONENT,
            model_name=model,
            namespace=namespace,
            pvc_name=f"{model}-task-center",
            path=job.output("model_path"),
            dataset=data.output("name"),
            dataset_revision=data.output("revision"),
            job=job.output("name"),
            metrics=job.output("metrics"),
        )
        pipeline.add(
            serving.COMPONENT,
            name=model,
            namespace=namespace,
            model_name=version.output("model"),
            model_version=version.output("version"),
        )
    return pipeline.graph()
