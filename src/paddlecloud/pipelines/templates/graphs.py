"""From a template and its values to a graph; pure.

The steps are samples (where no data is given), dataset, training, modelhub, serving.

What shapes the graph (`data`, `serve`) is settled when it is built; all other values are parameters of the
pipeline and can be changed for each of its runs. Names follow from the model's name, so that a second run is
a second version of the same model; the job is named like the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ...api.workflowgraph import Binding, Graph
from ..building import Given as Input
from ..building import Pipeline
from ..components import dataset, modelhub, samples, serving, training
from ..suitecommands import CENTER
from .description import DATA, PLACE, Template
from .parameters import Given

SHAPING = ("data", "serve")
RUN = Binding(template="{{run.name}}")
NAMESPACE = "kubeflow"


def graph_of(template: Template, values: Mapping[str, Given]) -> Graph:
    """*values* are those `Template.values` gives."""
    own = {name: value for name, value in values.items() if name not in SHAPING}
    pipeline = Pipeline(template.name, **own, namespace=NAMESPACE)
    namespace, model = pipeline.parameter("namespace"), pipeline.parameter("name")
    claim = made("{{parameter.name}}-task-center")
    source = str(values["data"])
    if source:
        # Another source is another data set: what a set was filled from does not change.
        digest = hashlib.sha256(source.encode()).hexdigest()[:6]
        where, name = Binding(value=source), made(f"{{{{parameter.name}}}}-data-{digest}")
    else:
        drawn = pipeline.add(
            samples.COMPONENT,
            name=RUN,
            namespace=namespace,
            image=template.image,
            pvc_name=claim,
            path=samples_path(template),
            arguments=template.says.samples,
        )
        where, name = drawn.output("uri"), made("{{parameter.name}}-samples")
    data = pipeline.add(
        dataset.COMPONENT,
        name=name,
        namespace=namespace,
        source_uri=where,
        source_secret=pipeline.parameter("data_secret"),
    )
    told: dict[str, Any] = {key: put(text) for key, text in template.says.training.items()}
    job = pipeline.add(
        training.COMPONENT,
        name=RUN,
        namespace=namespace,
        image=template.image,
        dataset=data.output("name"),
        pvc_name=claim,
        folder=made("runs/{{run.name}}"),
        worker_replicas=pipeline.parameter("workers"),
        clean_pod_policy="Never",
        **told,
    )
    version = pipeline.add(
        modelhub.COMPONENT,
        model_name=model,
        namespace=namespace,
        pvc_name=claim,
        path=job.output("model_path"),
        dataset=data.output("name"),
        dataset_revision=data.output("revision"),
        job=job.output("name"),
        metrics=job.output("metrics"),
    )
    if values["serve"]:
        pipeline.add(
            serving.COMPONENT,
            name=model,
            namespace=namespace,
            model_name=version.output("model"),
            model_version=version.output("version"),
        )
    return pipeline.graph()


def samples_path(template: Template) -> str:
    """Named by what is drawn: the same samples again are left as they are."""
    digest = hashlib.sha256(f"{template.image} {template.says.samples}".encode()).hexdigest()[:8]
    return f"samples/{template.name}-{digest}"


def put(text: str) -> Input:
    """A text of a template with its places as references; one that has none is itself."""
    references = {DATA: f"{CENTER}/{{{{output.dataset.name}}}}"}
    if not PLACE.search(text):
        return text
    alone = PLACE.fullmatch(text)
    if alone and alone[1] != DATA:
        return Binding(parameter=alone[1])
    return made(PLACE.sub(lambda m: references.get(m[1], f"{{{{parameter.{m[1]}}}}}"), text))


def made(template: str) -> Binding:
    return Binding(template=template)
