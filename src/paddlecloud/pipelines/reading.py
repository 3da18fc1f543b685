"""Reads a package, whatever wrote it, into a graph: YAML or JSON, plain or packed; pure.

What cannot be run is refused here, in words, before anything is made.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from dataclasses import dataclass
from typing import Any

import yaml

from ..api.workflowgraph import Graph
from ..controllers.workflowrun import problem_of
from ..errors import WrongUse
from .argo.reading import SPEC, read_workflow
from .ir.reading import read_pipeline

LARGEST = 32 * 1024 * 1024
Body = dict[str, Any]
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Package:
    """A pipeline somebody wrote: what it says, and the graph it is."""

    graph: Graph
    generation: str
    """v1 or v2: which of the two generations of Kubeflow Pipelines wrote it; ours is v2."""
    text: Body
    """The Workflow, or the pipeline with its platform."""
    title: str
    description: str = ""


def read_package(content: bytes, file: str = "the package") -> Package:
    """Raises `WrongUse`."""
    try:
        documents = [d for d in yaml.load_all(unpacked(content, file).decode(), Loader) if d is not None]
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WrongUse(f"{file} is no YAML: {' '.join(str(error).split())}") from error
    if not documents or not all(isinstance(d, dict) for d in documents):
        raise WrongUse(f"{file} holds no pipeline", next_step="compile one with kfp or `pdc pipeline export`")
    return package_of(*documents)


def package_of(body: Body, platform: Body | None = None) -> Package:
    """The package of a parsed body: a Workflow, or a pipeline with or without its platform."""
    if "pipeline_spec" in body or "pipelineSpec" in body:
        inner = body.get("pipeline_spec") or body.get("pipelineSpec") or {}
        if "runtimeConfig" in body:
            raise WrongUse(
                "the package is a PipelineJob of kfp.v2 in kfp 1.8, which only its own cloud runs",
                next_step="compile it with kfp.compiler (kfp 1.8) or with kfp 2",
            )
        platform = body.get("platform_spec") or body.get("platformSpec") or platform
        body = inner
    if body.get("kind") == "Workflow":
        package = of_workflow(body)
    elif "root" in body or "pipelineInfo" in body:
        package = of_pipeline(body, platform or {})
    elif "steps" in body and "name" in body:
        package = of_ours(body)
    else:
        raise WrongUse("this is neither a Workflow of kfp 1.8 nor a pipeline of kfp 2 nor one of ours")
    if problem := problem_of(package.graph):
        raise WrongUse(f"pipeline {package.title} cannot be run: {problem}")
    return package


def of_workflow(body: Body) -> Package:
    metadata = body.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    try:
        said = json.loads(annotations.get(SPEC) or "{}")
    except ValueError:
        said = {}
    graph = read_workflow(body)
    return Package(graph, "v1", body, said.get("name") or graph.name, said.get("description") or "")


def of_pipeline(body: Body, platform: Body) -> Package:
    graph = read_pipeline(body, platform)
    info = body.get("pipelineInfo") or {}
    text = {"pipeline_spec": body, "platform_spec": platform} if platform else body
    title = info.get("displayName") or info.get("name") or graph.name
    return Package(graph, "v2", text, title, info.get("description") or "")


def of_ours(body: Body) -> Package:
    try:
        graph = Graph.model_validate(body)
    except ValueError as error:
        raise WrongUse(f"the graph cannot be read: {error}") from error
    return Package(graph, "v2", body, graph.name)


def unpacked(content: bytes, file: str) -> bytes:
    """The one YAML file of an archive; a file that is none is itself."""
    try:
        if content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                name = the_yaml(archive.namelist(), file)
                with archive.open(name) as member:
                    return limited(member.read(LARGEST + 1), file)
        if content[:2] == b"\x1f\x8b":
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as packed:
                taken = packed.extractfile(the_yaml(packed.getnames(), file))
                return limited(taken.read(LARGEST + 1) if taken else b"", file)
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError) as error:
        raise WrongUse(f"{file} is a damaged archive: {error}") from error
    return limited(content, file)


def the_yaml(names: list[str], file: str) -> str:
    found = [n for n in names if n.endswith((".yaml", ".yml"))]
    if not found:
        raise WrongUse(f"the archive {file} holds no YAML file")
    return found[0]


def limited(content: bytes, file: str) -> bytes:
    if len(content) > LARGEST:
        raise WrongUse(f"{file} is larger than {LARGEST >> 20} MiB")
    return content
