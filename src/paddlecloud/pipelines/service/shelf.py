"""What the service keeps, as objects of the cluster: found, made, changed. It holds nothing itself.

Everything that is made is checked first: a package that cannot be run, a parameter that does not exist and
a name that is taken are refused before the first write.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import string
import uuid
from typing import Any, TypeVar

from ...api.core import ConfigMap
from ...api.meta import Metadata, Resource
from ...api.workflowgraph import graph_of
from ...api.workflowrun import PipelineRef, StepRecords, WorkflowRun, WorkflowRunSpec
from ...api.workflowservice import (
    Experiment,
    ExperimentSpec,
    Pipeline,
    PipelineSpec,
    PipelineVersion,
    PipelineVersionSpec,
    RecurringRun,
    RecurringRunSpec,
)
from ...cluster.client import Client
from ...controllers.workflowpods import RUN_LABEL
from ...controllers.workflowrecords import gathered
from ...controllers.workflowrun import ID_LABEL, PACKAGE_KEY, known_parameters
from ...errors import AlreadyExists, BadRequest, NotFound, WrongUse
from ..reading import Package
from ..running import TEXT_KEY

LARGEST = 1_000_000
NAMESPACE = "kubeflow"
DEFAULT = "Default"
LETTERS = string.ascii_lowercase + string.digits
Body = dict[str, Any]
R = TypeVar("R", bound=Resource)


class Shelf:
    def __init__(self, client: Client, namespace: str = NAMESPACE) -> None:
        self.client = client
        self.namespace = namespace

    async def all(self, kind: type[R], labels: dict[str, str] | None = None) -> list[R]:
        """Without what is being deleted: to clients it is gone."""
        found = (await self.client.list(kind, self.namespace, labels=labels)).items
        return [obj for obj in found if obj.metadata.deletion_timestamp is None]

    async def one(self, kind: type[R], name: str) -> R:
        found = await self.client.find(kind, self.namespace, name) if named(name) else None
        if found is None or found.metadata.deletion_timestamp is not None:
            raise NotFound(f"there is no {kind.kind} {name}")
        return found

    async def run(self, id: str) -> WorkflowRun:
        """With all its steps."""
        run = await self.by_id(WorkflowRun, id, "run")
        if not run.status.records:
            return run
        return gathered(run, await self.all(StepRecords, {RUN_LABEL: run.name}))

    async def recurring_run(self, id: str) -> RecurringRun:
        return await self.by_id(RecurringRun, id, "recurring run")

    async def by_id(self, kind: type[R], id: str, word: str) -> R:
        """By its id; what somebody made by hand also by its uid or name."""
        if named(id) and (labelled := await self.all(kind, {ID_LABEL: id})):
            return labelled[0]
        for obj in await self.all(kind):
            if id in (obj.uid, obj.name):
                return obj
        raise NotFound(f"there is no {word} {id}")

    async def change(self, obj: R, spec: Body) -> R:
        return await self.client.patch(type(obj), obj.key, {"spec": spec})

    async def remove(self, obj: Resource) -> None:
        # What a schedule made stays when the schedule goes.
        propagation = "Orphan" if isinstance(obj, RecurringRun) else "Background"
        await self.client.delete(type(obj), obj.key, propagation=propagation)

    async def add_experiment(self, name: str, description: str = "") -> Experiment:
        if not name:
            raise BadRequest("an experiment needs a name")
        if any(e.spec.display_name == name for e in await self.all(Experiment)):
            raise AlreadyExists(f"there is an experiment {name!r} already")
        return await self.client.create(
            Experiment(
                metadata=Metadata(name=str(uuid.uuid4()), namespace=self.namespace),
                spec=ExperimentSpec(display_name=name, description=description),
            )
        )

    async def default_experiment(self) -> Experiment:
        """Made by the first run that names none."""
        for experiment in await self.all(Experiment):
            if experiment.spec.display_name == DEFAULT:
                return experiment
        return await self.add_experiment(DEFAULT, "All runs that were not put into another experiment.")

    async def add_pipeline(self, name: str, description: str = "") -> Pipeline:
        if not name:
            raise BadRequest("a pipeline needs a name")
        if any(p.spec.display_name == name for p in await self.all(Pipeline)):
            raise AlreadyExists(
                f"there is a pipeline {name!r} already",
                next_step="upload a new version of it, or choose another name",
            )
        return await self.client.create(
            Pipeline(
                metadata=Metadata(name=str(uuid.uuid4()), namespace=self.namespace),
                spec=PipelineSpec(display_name=name, description=description),
            )
        )

    async def add_version(
        self, pipeline: Pipeline, package: Package, name: str = "", description: str = ""
    ) -> PipelineVersion:
        name = name or package.title
        if any(v.spec.display_name == name for v in await self.versions(pipeline)):
            raise AlreadyExists(f"pipeline {pipeline.spec.display_name} has a version {name!r} already")
        reference = await self.keep(package)
        return await self.client.create(
            PipelineVersion(
                metadata=Metadata(name=str(uuid.uuid4()), namespace=self.namespace),
                spec=PipelineVersionSpec(
                    pipeline=pipeline.name, display_name=name, description=description, package=reference,
                    generation=package.generation,
                ),
            )
        )  # fmt: skip

    async def versions(self, pipeline: Pipeline) -> list[PipelineVersion]:
        """Oldest first."""
        found = [v for v in await self.all(PipelineVersion) if v.spec.pipeline == pipeline.name]
        return sorted(
            found, key=lambda v: (str(v.metadata.creation_timestamp), int(v.metadata.resource_version or 0))
        )

    async def default_version(self, pipeline: Pipeline) -> PipelineVersion | None:
        versions = await self.versions(pipeline)
        chosen = [v for v in versions if v.name == pipeline.spec.default_version]
        return next(iter(chosen or versions[-1:]), None)

    async def keep(self, package: Package, parameters: Body | None = None) -> PipelineRef:
        """The package in a ConfigMap named by its content: the same twice is kept once.

        Raises `BadRequest`, before anything is written, for *parameters* that it does not have.
        """
        if parameters is not None and (problem := known_parameters(package.graph, parameters)):
            raise BadRequest(problem)
        reference = PipelineRef(name=package.graph.name, digest=package.graph.digest())
        data = {
            PACKAGE_KEY: json.dumps(package.graph.wire(), sort_keys=True),
            TEXT_KEY: json.dumps(package.text, sort_keys=True, default=str),
        }
        if (size := sum(len(t.encode()) for t in data.values())) > LARGEST:
            raise WrongUse(
                f"the package has {size} bytes, more than the {LARGEST} a cluster keeps in one object"
            )
        if await self.client.find(ConfigMap, self.namespace, reference.package) is None:
            kept = ConfigMap(metadata=Metadata(name=reference.package, namespace=self.namespace), data=data)
            # Somebody else may keep the same in this moment.
            with contextlib.suppress(AlreadyExists):
                await self.client.create(kept)
        return reference

    async def text(self, reference: PipelineRef) -> Body:
        kept = await self.client.find(ConfigMap, self.namespace, reference.package)
        body: Body = json.loads(kept.data.get(TEXT_KEY) or kept.data[PACKAGE_KEY]) if kept else {}
        return body

    async def start(self, reference: PipelineRef, spec: Body) -> WorkflowRun:
        """Raises `BadRequest` for parameters the pipeline does not have."""
        spec_of_run = await self.runnable(reference, spec)
        return await self.client.create(WorkflowRun(metadata=self.labelled(reference), spec=spec_of_run))

    async def repeat(self, reference: PipelineRef, spec: Body, trigger: Body) -> RecurringRun:
        """Raises `BadRequest` for parameters the pipeline does not have."""
        repeated = RecurringRunSpec(run=await self.runnable(reference, spec), **trigger)
        return await self.client.create(RecurringRun(metadata=self.labelled(reference), spec=repeated))

    def labelled(self, reference: PipelineRef) -> Metadata:
        """A name that says what it is of, and the id by which clients know it."""
        suffix = "".join(secrets.choice(LETTERS) for _ in range(5))
        return Metadata(
            name=f"{reference.name}-{suffix}",
            namespace=self.namespace,
            labels={ID_LABEL: str(uuid.uuid4())},
        )

    async def runnable(self, reference: PipelineRef, spec: Body) -> WorkflowRunSpec:
        """Raises `BadRequest` for parameters the pipeline does not have."""
        kept = await self.client.find(ConfigMap, self.namespace, reference.package)
        if kept is None:
            raise NotFound(f"the package {reference.package} is gone")
        if problem := known_parameters(graph_of(kept.data[PACKAGE_KEY]), spec.get("parameters") or {}):
            raise BadRequest(problem)
        if not spec.get("experiment"):
            spec["experiment"] = (await self.default_experiment()).name
        return WorkflowRunSpec(pipeline=reference, **spec)


def named(text: str) -> bool:
    """Whether it can be the name of an object: what comes in a URL may be anything."""
    return bool(text) and len(text) <= 63 and all(c.isalnum() or c in "-._" for c in text)
