"""Writes a graph of our components as kfp 2 would have compiled it; pure. The other way than `reading`.

Every component says of itself what its inputs are; where a text holds references, each becomes an input of
the task beside it, as kfp does it with texts that are made of several values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...api.workflowgraph import Binding, Graph, Step
from ...controllers.workflowvalues import REFERENCE
from ...errors import WrongUse
from ..component import Component, flag

Body = dict[str, Any]
SCHEMA, SDK = "2.1.0", "kfp-2.17.0"
TYPES = {"Integer": "NUMBER_INTEGER", "Boolean": "BOOLEAN"}
FACTS = {"run.name": "{{$.pipeline_job_name}}"}


def pipeline_spec(graph: Graph, components: Mapping[str, Component], description: str = "") -> Body:
    """Raises `WrongUse` for a step that is none of *components*."""
    spec: Body = {
        "components": {},
        "deploymentSpec": {"executors": {}},
        "pipelineInfo": {"name": graph.name, "description": description},
        "root": {
            "dag": {"tasks": {}},
            "inputDefinitions": {"parameters": {n: asked(v) for n, v in graph.parameters.items()}},
        },
        "schemaVersion": SCHEMA,
        "sdkVersion": SDK,
    }
    by_command = {tuple(c.command()): c for c in components.values()}
    for step in graph.steps:
        component = by_command.get(tuple(step.command))
        if component is None:
            raise WrongUse(f"step {step.name} is none of our components: it cannot be written for kfp")
        # Each step has its own, as what a text is made of is an input of that step alone.
        spec["components"][f"comp-{step.name}"] = declared(step, component)
        spec["deploymentSpec"]["executors"][f"exec-{step.name}"] = {"container": container(step, component)}
        spec["root"]["dag"]["tasks"][step.name] = task(step, component)
    return spec


def asked(default: Any) -> Body:
    kinds = {bool: "BOOLEAN", int: "NUMBER_INTEGER"}
    return {"defaultValue": default, "isOptional": True, "parameterType": kinds.get(type(default), "STRING")}


def declared(step: Step, component: Component) -> Body:
    kinds = {name: TYPES.get(component.types.get(name, ""), "STRING") for name in component.all_inputs()}
    handed = dict.fromkeys(component.outputs, "STRING")
    return {
        "executorLabel": f"exec-{step.name}",
        "inputDefinitions": {"parameters": {name: {"parameterType": kind} for name, kind in kinds.items()}},
        "outputDefinitions": {"parameters": {name: {"parameterType": kind} for name, kind in handed.items()}},
    }


def container(step: Step, component: Component) -> Body:
    flags = [
        part
        for name in component.all_inputs()
        for part in (flag(name), f"{{{{$.inputs.parameters['{name}']}}}}")
    ]
    written = [
        part
        for name in component.outputs
        for part in ("--write", name, f"{{{{$.outputs.parameters['{name}'].output_file}}}}")
    ]
    return {"image": step.image, "command": ["python", "-m", component.module], "args": [*flags, *written]}


def task(step: Step, component: Component) -> Body:
    inputs: Body = {}
    for name, binding in step.inputs.items():
        inputs |= given(name, binding, component.types.get(name, ""))
    body: Body = {
        "cachingOptions": {},
        "componentRef": {"name": f"comp-{step.name}"},
        "inputs": {"parameters": inputs},
        "taskInfo": {"name": step.display or step.name},
    }
    if needed := sorted(step.needs()):
        body["dependentTasks"] = needed
    return body


def given(name: str, binding: Binding, kind: str) -> Body:
    """The source of an input, and of what the text of it refers to."""
    if binding.parameter is not None:
        return {name: {"componentInputParameter": binding.parameter}}
    if binding.output is not None:
        return {name: produced(binding.output)}
    if binding.template is None:
        return {name: constant(typed(str(binding.value), kind))}
    beside: Body = {}
    text = binding.template
    for found in REFERENCE.finditer(binding.template):
        where, _, rest = found[1].partition(".")
        if found[1] in FACTS:
            text = text.replace(found[0], FACTS[found[1]])
            continue
        channel = f"pipelinechannel--{rest.replace('.', '-')}"
        beside[channel] = produced(rest) if where == "output" else {"componentInputParameter": rest}
        text = text.replace(found[0], f"{{{{$.inputs.parameters['{channel}']}}}}")
    return {name: constant(text), **beside}


def produced(reference: str) -> Body:
    step, _, key = reference.partition(".")
    return {"taskOutputParameter": {"outputParameterKey": key, "producerTask": step}}


def constant(value: Any) -> Body:
    return {"runtimeValue": {"constant": value}}


def typed(text: str, kind: str) -> Any:
    if kind == "Integer":
        return int(text)
    return text.lower() == "true" if kind == "Boolean" else text
