"""Writing a pipeline in Python: call components, use their outputs, get a graph.

with Pipeline("walk", source="file:///data") as pipeline:
    data = pipeline.add(dataset.COMPONENT, name="shapes", source_uri=pipeline.parameter("source"))
    pipeline.add(training.COMPONENT, name="shapes", dataset=data.output("name"))
"""

from __future__ import annotations

from typing import Any, Self

from ..api.workflowrun import Binding, Graph, Step
from ..errors import WrongUse
from .component import IMAGE, Component

Given = str | int | bool | Binding


class Added:
    """A step of a pipeline being written."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def output(self, name: str) -> Binding:
        if name not in self.step.outputs:
            has = ", ".join(self.step.outputs) or "none"
            raise WrongUse(f"step {self.step.name} has no output {name!r}; it has {has}")
        return Binding(output=f"{self.step.name}.{name}")


class Pipeline:
    def __init__(self, name: str, /, **parameters: Any) -> None:
        self.name = name
        self._parameters = parameters
        self._steps: list[Step] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def parameter(self, name: str) -> Binding:
        if name not in self._parameters:
            raise WrongUse(f"pipeline {self.name} has no parameter {name!r}")
        return Binding(parameter=name)

    def add(
        self, component: Component, *, after: tuple[Added, ...] = (), step: str = "", **given: Given
    ) -> Added:
        """Add a component with its inputs; its place in the graph follows from the outputs it uses."""
        name = step or component.name
        if any(s.name == name for s in self._steps):
            raise WrongUse(
                f"pipeline {self.name} has two steps named {name}", next_step="name one with step=…"
            )
        unknown = set(given) - set(component.all_inputs())
        missing = set(component.required) - set(given)
        if unknown or missing:
            raise WrongUse(
                f"step {name}: "
                + "; ".join(
                    f"{what} {', '.join(sorted(names))}"
                    for what, names in (("unknown input", unknown), ("missing input", missing))
                    if names
                )
            )
        inputs = {key: bound(component.inputs.get(key, "")) for key in component.inputs}
        inputs |= {key: bound(value) for key, value in given.items()}
        added = Step(
            name=name,
            image=IMAGE,
            command=component.command(),
            inputs=inputs,
            after=[a.step.name for a in after],
            outputs=list(component.outputs),
        )
        self._steps.append(added)
        return Added(added)

    def graph(self) -> Graph:
        return Graph(name=self.name, parameters=self._parameters, steps=self._steps)


def bound(value: Given) -> Binding:
    return value if isinstance(value, Binding) else Binding(value=str(value))
