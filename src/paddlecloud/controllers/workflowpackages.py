"""The package of a run: the graph in its ConfigMap, what is wrong with it, what parameters it takes; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ..api.core import ConfigMap
from ..api.meta import Condition
from ..api.workflowgraph import Graph, Step, graph_of
from ..api.workflowrun import WorkflowRun
from .conditions import waiting
from .contract import Snapshot
from .workflowvalues import shown

PACKAGE_KEY = "graph.json"
WORDS: dict[str, tuple[Any, ...]] = {
    "NUMBER_INTEGER": ("a whole number", int),
    "NUMBER_DOUBLE": ("a number", int, float),
    "BOOLEAN": ("true or false", bool),
    "LIST": ("a list", list),
    "STRUCT": ("an object", dict),
}
"""The types of parameters that can be got wrong, in words, and what Python reads them as."""
GRAPHS = 32
"""Read once each while their runs take turns; runs of one pipeline share theirs."""


def package_of(run: WorkflowRun, seen: Snapshot) -> tuple[Graph | None, Condition | None]:
    name = run.spec.pipeline.package
    package = seen.find(ConfigMap, name)
    if package is None or PACKAGE_KEY not in package.data:
        return None, waiting(
            "WaitingForPackage", f"waits for the package in ConfigMap {name}; upload the pipeline"
        )
    graph, problem = understood(package.data[PACKAGE_KEY])
    if graph is None:
        return None, waiting("BrokenPackage", f"the package in ConfigMap {name} {problem}")
    return graph, None


@lru_cache(GRAPHS)
def understood(text: str) -> tuple[Graph | None, str]:
    """The graph, or what is wrong with it."""
    try:
        graph = graph_of(text)
    except ValueError as error:
        return None, f"cannot be read: {error}"
    problem = problem_of(graph)
    return (None, f"makes no sense: {problem}") if problem else (graph, "")


def problem_of(graph: Graph) -> str:
    """What would keep a run of the graph from ever ending."""
    for steps in (graph.steps, *(g.steps for g in graph.graphs.values())):
        if problem := problem_of_steps(steps):
            return problem
    for step in graph.every_step():
        if step.graph and step.graph not in graph.graphs:
            return f"step {step.name} is graph {step.graph}, which does not exist"
    return ""


def problem_of_steps(steps: list[Step]) -> str:
    names = [s.name for s in steps]
    if twice := [n for n in names if names.count(n) > 1]:
        return f"two steps are called {twice[0]}"
    for step in steps:
        if unknown := step.needs() - set(names):
            return f"step {step.name} needs step {min(unknown)}, which does not exist"
    try:
        TopologicalSorter({s.name: sorted(s.needs()) for s in steps}).prepare()
    except CycleError as error:
        return f"its steps wait for each other: {' → '.join(error.args[1])}"
    return ""


def known_parameters(graph: Graph, given: Mapping[str, Any]) -> str:
    """What is wrong with the parameters of a run; empty when nothing is."""
    if unknown := sorted(set(given) - set(graph.parameters)):
        has = ", ".join(sorted(graph.parameters)) or "none"
        return f"pipeline {graph.name} has no parameter {unknown[0]!r}; it has {has}"
    if missing := sorted(n for n, v in graph.parameters.items() if v is None and n not in given):
        return f"pipeline {graph.name} needs parameter {missing[0]!r}, which was not given"
    for name, value in given.items():
        wanted = WORDS.get(graph.types.get(name, ""))
        if wanted and not fits(value, *wanted[1:]):
            return f"parameter {name!r} of pipeline {graph.name} is to be {wanted[0]} and is {shown(value)}"
    return ""


def fits(value: Any, *types: type) -> bool:
    """Whether a value is of one of these types, or a text that says one: command lines have only texts."""
    if isinstance(value, str):
        try:
            value = json.loads(value.strip().lower() if bool in types else value)
        except ValueError:
            return False
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # A yes is no number, though Python takes it for one.
    return type(value) in types
