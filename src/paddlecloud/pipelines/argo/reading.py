"""Turns a Workflow that kfp 1.8 compiled into a graph; pure.

Every template of kind `dag` becomes a graph, every task a step; a template that is run becomes the pod of
each step that calls it. What the grammar of the compiler does not have is refused by name.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...api.workflowgraph import Artifact, Cache, Each, Graph, Output, Retry, Step, SubGraph
from ...errors import WrongUse
from ..durations import duration
from .deeds import deed_of, kubectl_deed
from .references import binding, condition, in_pod

WORKFLOW = "argoproj.io/v1alpha1"
V2 = "pipelines.kubeflow.org/v2_pipeline"
SPEC = "pipelines.kubeflow.org/pipeline_spec"
NUMBERS = {"Integer": "NUMBER_INTEGER", "Float": "NUMBER_DOUBLE"}
STALENESS = "pipelines.kubeflow.org/max_cache_staleness"
DISPLAY = "pipelines.kubeflow.org/task_display_name"
SKIPPED_KINDS = ("steps", "script", "suspend", "http", "data", "plugin", "containerSet")
POD_FIELDS = ("nodeSelector", "tolerations", "affinity", "hostAliases", "securityContext", "initContainers")
UI_FILES = ("mlpipeline-ui-metadata", "mlpipeline-metrics")
Body = dict[str, Any]


def read_workflow(workflow: Body) -> Graph:
    """Raises `WrongUse` with what cannot be run."""
    metadata, spec = workflow.get("metadata") or {}, workflow.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    if (version := workflow.get("apiVersion")) != WORKFLOW:
        raise WrongUse(
            f"the package is a Workflow of {version or 'no version'}; this service reads {WORKFLOW}",
            next_step="compile it with kfp 1.8",
        )
    if annotations.get(V2) == "true":
        raise WrongUse(
            "the package was compiled in V2_COMPATIBLE mode, which needs the launcher of another cluster",
            next_step="compile it without mode=…, or with kfp 2",
        )
    return Reading(metadata, spec).graph()


class Reading:
    def __init__(self, metadata: Body, spec: Body) -> None:
        self.spec = spec
        self.name, self.types = name_of(metadata), types_of(metadata)
        try:
            self.templates = {str(t["name"]): t for t in spec["templates"]}
            self.entry = self.templates[spec["entrypoint"]]
        except (KeyError, TypeError) as error:
            raise WrongUse(f"the Workflow has no {error}") from error
        given = (spec.get("arguments") or {}).get("parameters") or ()
        self.parameters = {str(p["name"]): p.get("value") for p in given}

    def graph(self) -> Graph:
        graphs = {name: self.sub_graph(t) for name, t in self.templates.items() if "dag" in t}
        entry = self.entry["name"]
        steps = graphs[entry].steps if entry in graphs else [self.step({"name": entry, "template": entry})]
        leaving = self.spec.get("onExit")
        return Graph(
            name=self.name,
            parameters=self.parameters,
            types=self.types,
            steps=steps,
            graphs={name: graph for name, graph in graphs.items() if name != entry or self.recursive()},
            after_skipped=True,
            on_exit=self.step({"name": "onExit", "template": leaving}) if leaving else None,
            seconds=self.spec.get("activeDeadlineSeconds"),
            limit=int(self.spec.get("parallelism") or 0),
        )

    def recursive(self) -> bool:
        dags = (t.get("dag") or {} for t in self.templates.values())
        return self.entry["name"] in [task.get("template") for dag in dags for task in dag.get("tasks") or ()]

    def sub_graph(self, template: Body) -> SubGraph:
        outputs = (template.get("outputs") or {}).get("parameters") or ()
        return SubGraph(
            steps=[self.step(task) for task in template["dag"].get("tasks") or ()],
            outputs={
                o["name"]: [binding(f"{{{{{o['valueFrom']['parameter'].strip('{} ')}}}}}")]
                for o in outputs
                if (o.get("valueFrom") or {}).get("parameter")
            },
        )

    def step(self, task: Body) -> Step:
        try:
            template = self.templates[task["template"]]
        except KeyError as error:
            raise WrongUse(f"task {task.get('name')} has no template {error}") from error
        arguments = task.get("arguments") or {}
        inputs = {p["name"]: binding(p.get("value")) for p in arguments.get("parameters") or ()}
        artifacts = {a["name"]: self.given(a) for a in arguments.get("artifacts") or ()}
        common: Body = {
            "name": task["name"],
            "display": ((template.get("metadata") or {}).get("annotations") or {}).get(DISPLAY, ""),
            "inputs": inputs,
            "artifacts": artifacts,
            "after": list(task.get("dependencies") or ()),
            "when": condition(task["when"]) if task.get("when") else None,
            "each": self.each(task, template),
        }
        if "dag" in template:
            return Step(**common, graph=template["name"])
        return Step(**common, **self.deed(template))

    def given(self, artifact: Body) -> Any:
        if "raw" in artifact:
            return binding(artifact["raw"].get("data", ""))
        return binding(artifact.get("from", ""))

    def each(self, task: Body, template: Body) -> Each | None:
        limit = int(template.get("parallelism") or 0)
        if "withItems" in task:
            return Each(items=binding(task["withItems"]), limit=limit)
        if "withParam" in task:
            return Each(items=binding(task["withParam"]), limit=limit)
        return None

    def deed(self, template: Body) -> Body:
        """What a template that is run becomes."""
        if "resource" in template:
            return deed_of(template)
        if "container" not in template:
            kind = next((k for k in SKIPPED_KINDS if k in template), "nothing")
            raise WrongUse(
                f"template {template['name']} is {kind}, which kfp does not write and is not run here"
            )
        if told := kubectl_deed(template):
            return told
        return self.pod(template)

    def pod(self, template: Body) -> Body:
        container = {"name": "main", **template["container"]}
        spec: Body = {"containers": [container, *(template.get("sidecars") or ())]}
        spec |= {k: template[k] for k in POD_FIELDS if template.get(k)}
        spec["volumes"] = [*(self.spec.get("volumes") or ()), *(template.get("volumes") or ())]
        spec |= {k: self.spec[k] for k in ("imagePullSecrets", "dnsConfig") if self.spec.get(k)}
        spec["nodeSelector"] = {
            **(self.spec.get("nodeSelector") or {}),
            **(template.get("nodeSelector") or {}),
        }
        if template.get("activeDeadlineSeconds"):
            spec["activeDeadlineSeconds"] = int(template["activeDeadlineSeconds"])
        metadata = told_to_pods(template.get("metadata") or {})
        whole = {"spec": {k: v for k, v in spec.items() if v}, "metadata": metadata}
        made = deep(whole)
        outputs, inputs = template.get("outputs") or {}, template.get("inputs") or {}
        return {
            "form": "argo",
            "pod": made,
            "outputs": {p["name"]: output(p) for p in outputs.get("parameters") or ()},
            "makes": {
                a["name"]: Artifact(
                    path=a["path"], optional=bool(a.get("optional")) or a["name"].endswith(UI_FILES)
                )
                for a in outputs.get("artifacts") or ()
            },
            "artifact_paths": {a["name"]: a["path"] for a in inputs.get("artifacts") or () if a.get("path")},
            "retry": retry(template.get("retryStrategy") or {}),
            "cache": cache((template.get("metadata") or {}).get("annotations") or {}),
        }


def told_to_pods(metadata: Body) -> Body:
    """Without what the compiler wrote down for itself: whole components, many times over."""
    annotations = metadata.get("annotations") or {}
    kept = {
        k: v for k, v in annotations.items() if not k.startswith("pipelines.kubeflow.org/") or k == DISPLAY
    }
    return {"labels": metadata.get("labels") or {}, "annotations": kept}


def deep(node: Any) -> Any:
    if isinstance(node, str):
        return in_pod(node)
    if isinstance(node, list):
        return [deep(n) for n in node]
    return {k: deep(v) for k, v in node.items()} if isinstance(node, dict) else node


def output(parameter: Body) -> Output:
    source = parameter.get("valueFrom") or {}
    if "path" not in source:
        raise WrongUse(f"output {parameter['name']} comes from no file")
    return Output(path=source["path"], default=source.get("default"))


def retry(strategy: Body) -> Retry:
    if not strategy:
        return Retry()
    backoff = strategy.get("backoff") or {}
    return Retry(
        limit=int(strategy.get("limit") or 0),
        seconds=duration(backoff.get("duration") or 0),
        factor=float(backoff.get("factor") or 1),
        longest=duration(backoff.get("maxDuration") or 3600),
    )


def cache(annotations: Body) -> Cache:
    """What lies in the annotation is how old an answer may be; one that is none means any age."""
    text = annotations.get(STALENESS)
    if text is None:
        return Cache(enabled=True)
    try:
        within = duration(text)
    except WrongUse:
        return Cache(enabled=True)
    return Cache(enabled=within > 0, within_seconds=within)


def types_of(metadata: Body) -> dict[str, str]:
    """Of the parameters that are numbers; of all others a text may mean many things."""
    try:
        said = json.loads((metadata.get("annotations") or {}).get(SPEC) or "{}")
        return {p["name"]: NUMBERS[p["type"]] for p in said.get("inputs") or () if p.get("type") in NUMBERS}
    except (ValueError, AttributeError, TypeError, KeyError):
        return {}


def name_of(metadata: Body) -> str:
    given = str(metadata.get("name") or metadata.get("generateName") or "pipeline").rstrip("-")
    return re.sub(r"[^a-z0-9-]+", "-", given.lower()).strip("-")[:40].strip("-") or "pipeline"
