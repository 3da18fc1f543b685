"""Turns what kfp 2 compiled, a pipeline and its platform, into a graph; pure.

A component with a DAG becomes a graph, a component with an executor the pod of each task that uses it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...api.workflowgraph import Artifact, Binding, Cache, Each, Graph, Output, Retry, Step, SubGraph
from ...controllers.workflowimports import fetched
from ...controllers.workflowvalues import NoValue
from ...errors import WrongUse
from ..durations import duration
from .conditions import condition
from .pods import claim_deed, pod_of
from .values import artifact, parameter, produced, whole

Body = dict[str, Any]
SCHEMA = "2.1"
AFTER_ALL = "ALL_UPSTREAM_TASKS_COMPLETED"


def read_pipeline(pipeline: Body, platform: Body | None = None) -> Graph:
    """Raises `WrongUse` with what cannot be run."""
    version = str(pipeline.get("schemaVersion") or "")
    if not version.startswith(f"{SCHEMA}."):
        raise WrongUse(
            f"the package has schema {version or 'without a version'} (written by "
            f"{pipeline.get('sdkVersion') or 'an unknown SDK'}); this service reads {SCHEMA}",
            next_step="compile it with kfp 2.0 to 2.17",
        )
    try:
        return Reading(pipeline, platform or {}).graph()
    except (KeyError, TypeError, AttributeError) as error:
        raise WrongUse(f"the package is damaged: {type(error).__name__} {error}") from error


class Reading:
    def __init__(self, pipeline: Body, platform: Body) -> None:
        self.pipeline = pipeline
        self.components: Body = pipeline.get("components") or {}
        self.executors: Body = (pipeline.get("deploymentSpec") or {}).get("executors") or {}
        kubernetes = (platform.get("platforms") or {}).get("kubernetes") or {}
        self.settings: Body = (kubernetes.get("deploymentSpec") or {}).get("executors") or {}
        self.name = str((pipeline.get("pipelineInfo") or {}).get("name") or "pipeline")

    def graph(self) -> Graph:
        root = self.pipeline["root"]
        asked = (root.get("inputDefinitions") or {}).get("parameters") or {}
        return Graph(
            name=re.sub(r"[^a-z0-9-]+", "-", self.name.lower()).strip("-")[:40].strip("-") or "pipeline",
            parameters={name: default_of(p) for name, p in asked.items()},
            types={name: p["parameterType"] for name, p in asked.items() if p.get("parameterType")},
            steps=self.steps(root["dag"]),
            graphs={name: self.sub_graph(c) for name, c in self.components.items() if "dag" in c},
        )

    def sub_graph(self, component: Body) -> SubGraph:
        outputs = component["dag"].get("outputs") or {}
        asked = (component.get("inputDefinitions") or {}).get("parameters") or {}
        return SubGraph(
            steps=self.steps(component["dag"]),
            outputs={name: values_of(o) for name, o in (outputs.get("parameters") or {}).items()},
            artifacts={
                name: [
                    Binding(output=f"{s['producerSubtask']}.{s['outputArtifactKey']}")
                    for s in o["artifactSelectors"]
                ]
                for name, o in (outputs.get("artifacts") or {}).items()
            },
            defaults={n: default_of(p) for n, p in asked.items() if p.get("isOptional")},
        )

    def steps(self, dag: Body) -> list[Step]:
        return [self.step(name, task) for name, task in (dag.get("tasks") or {}).items()]

    def step(self, name: str, task: Body) -> Step:
        component = self.components[task["componentRef"]["name"]]
        given = task.get("inputs") or {}
        inputs = {n: parameter(p) for n, p in (given.get("parameters") or {}).items()}
        policy, retries = task.get("triggerPolicy") or {}, task.get("retryPolicy") or {}
        common: Body = {
            "name": name,
            "display": (task.get("taskInfo") or {}).get("name") or name,
            "artifacts": {n: artifact(a) for n, a in (given.get("artifacts") or {}).items()},
            "after": list(task.get("dependentTasks") or ()),
            "when": condition(policy["condition"]) if policy.get("condition") else None,
            "always": policy.get("strategy") == AFTER_ALL,
            "retry": Retry(
                limit=int(retries.get("maxRetryCount") or 0),
                seconds=duration(retries.get("backoffDuration") or 0),
                factor=float(retries.get("backoffFactor") or 2),
                longest=duration(retries.get("backoffMaxDuration") or 3600),
            ),
        }
        if "artifactIterator" in task:
            raise WrongUse(
                f"task {name} loops over artifacts, which no Kubeflow Pipelines runs; loop over a list"
            )
        if iterator := task.get("parameterIterator"):
            items = iterator["items"]
            source = (
                Binding(value=whole(json.loads(items["raw"])))
                if "raw" in items
                else inputs.pop(items["inputParameter"])
            )
            limit = int((task.get("iteratorPolicy") or {}).get("parallelismLimit") or 0)
            common["each"] = Each(items=source, limit=limit)
            inputs[iterator["itemInput"]] = Binding(item="")
        common["inputs"] = inputs
        if "dag" in component:
            return Step(**common, graph=task["componentRef"]["name"])
        return Step(**common, **self.executed(name, task, component))

    def executed(self, name: str, task: Body, component: Body) -> Body:
        label = component["executorLabel"]
        executor, settings = self.executors[label], self.settings.get(label) or {}
        if "importer" in executor:
            return importer(name, executor["importer"], self.name)
        container = executor["container"]
        if deed := claim_deed(container):
            return deed
        asked = (component.get("inputDefinitions") or {}).get("parameters") or {}
        handed = component.get("outputDefinitions") or {}
        caching = task.get("cachingOptions") or {}
        pod, extras = pod_of(container, settings)
        inner: Body = {
            "form": "ir",
            "pod": pod,
            "defaults": {n: whole(p["defaultValue"]) for n, p in asked.items() if "defaultValue" in p},
            "outputs": {
                n: Output(type=p.get("parameterType") or "STRING")
                for n, p in (handed.get("parameters") or {}).items()
            },
            "makes": {
                n: Artifact(type=(a.get("artifactType") or {}).get("schemaTitle") or "")
                for n, a in (handed.get("artifacts") or {}).items()
            },
            "cache": Cache(
                enabled=bool(caching.get("enableCache")), key=caching.get("cacheKey") or "", scope=self.name
            ),
        }
        return {**inner, "extras": extras}


def importer(name: str, said: Body, scope: str) -> Body:
    """A step that only names an artifact; where it is may be known in the run alone."""
    uri = said.get("artifactUri") or {}
    order: Body = {"reimport": bool(said.get("reimport")), "metadata": whole(said.get("metadata") or {})}
    if "runtimeParameter" in uri:
        order["parameter"] = uri["runtimeParameter"]
    else:
        order["uri"] = str(uri.get("constant") or "")
        try:
            fetched(order["uri"])
        except NoValue as error:
            raise WrongUse(f"task {name}: {error}") from error
    kind = (said.get("typeSchema") or {}).get("schemaTitle") or ""
    # One that is not to be imported anew is the same as long as its address is.
    cache = Cache(enabled=not order["reimport"], scope=scope)
    return {"form": "importer", "pod": order, "makes": {"artifact": Artifact(type=kind)}, "cache": cache}


def default_of(definition: Body) -> Any:
    if "defaultValue" in definition:
        return whole(definition["defaultValue"])
    return "" if definition.get("isOptional") and definition.get("parameterType") == "STRING" else None


def values_of(output: Body) -> list[Binding]:
    if "valueFromParameter" in output:
        return [Binding(output=produced(output["valueFromParameter"]))]
    return [Binding(output=produced(s)) for s in output["valueFromOneof"]["parameterSelectors"]]
