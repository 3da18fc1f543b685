"""The graph language of pipelines: whatever wrote a pipeline, it is read into this, and this is what runs.

A graph is a set of steps with dependencies. A step is a pod, or another graph of the same package, run
once or once for each item of a list. Values flow by bindings; what is not known before the run (items,
conditions, names made at run time) is worked out step by step, so a graph may contain itself.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any, Literal

from .meta import Value


class Binding(Value):
    """Where a value comes from; exactly one of value, parameter, output, item and template is set."""

    value: Any = None
    parameter: str | None = None
    """An input of the graph the step is in; at the top a parameter of the run."""
    output: str | None = None
    """An output of another step of the graph, as `step.name`."""
    item: str | None = None
    """The item of the loop, or what it holds under this key; only for the inputs of the looping step."""
    template: str | None = None
    """A text with references such as `{{parameter.x}}`, `{{output.step.x}}`, `{{input.x}}`, `{{item}}`."""
    keys: list[str] = []
    """What is taken from the value, key by key; a text on the way is read as JSON."""
    status_of: str | None = None
    """How the step of this name ended, for a step that runs whatever happened."""

    def needs(self) -> set[str]:
        """The steps it takes something from."""
        used = {self.output.partition(".")[0]} if self.output else set()
        if self.status_of:
            used.add(self.status_of)
        for reference in references(self.template or ""):
            kind, _, rest = reference.partition(".")
            if kind == "output":
                used.add(rest.partition(".")[0])
        return used


class When(Value):
    """A condition: a comparison, or the negation or conjunction of others."""

    left: Binding | None = None
    op: Literal["==", "!=", ">", ">=", "<", "<="] = "=="
    right: Binding | None = None
    negated: bool = False
    every: list[When] = []

    def bindings(self) -> list[Binding]:
        own = [b for b in (self.left, self.right) if b is not None]
        return own + [b for part in self.every for b in part.bindings()]


class Each(Value):
    """Run once for each item."""

    items: Binding
    """A list, or a text that is one as JSON."""
    limit: int = 0
    """How many at a time; 0: all."""


class Retry(Value):
    limit: int = 0
    seconds: float = 0
    """Before the second attempt."""
    factor: float = 2
    longest: float = 3600


class Cache(Value):
    """Whether what an equal step handed over earlier may stand for running it."""

    enabled: bool = False
    within_seconds: float | None = None
    """How old it may be; None: as old as it likes."""
    scope: str = ""
    """Steps share what they handed over only with those of the same scope."""
    key: str = ""
    """Given by the user instead of what the step consists of."""


class Artifact(Value):
    """A file or folder a step hands over."""

    path: str = ""
    """Where the step leaves it; empty: where it is told to."""
    type: str = ""
    optional: bool = False


class Output(Value):
    """A value a step hands over."""

    path: str = ""
    """The file it leaves it in; empty: where it is told to."""
    type: str = "STRING"
    default: str | None = None


class Step(Value):
    """One place in a graph. It is a pod (`image` and `command`, or `pod`) or another graph."""

    name: str
    display: str = ""
    image: str = ""
    command: list[str] = []
    """`{{name}}` stands for the input of that name."""
    pod: dict[str, Any] = {}
    """The spec of the pod, whose first container is the step, and its labels and annotations."""
    form: Literal["plain", "argo", "ir", "deed", "importer"] = "plain"
    """How the pod is told its inputs and hands over its outputs; an importer has no pod."""
    graph: str = ""
    inputs: dict[str, Binding] = {}
    defaults: dict[str, Any] = {}
    """Of inputs that are not given; they fill placeholders only."""
    extras: dict[str, Binding] = {}
    """Values for the text of the pod (`{{extra.x}}`) that its program is not told."""
    artifacts: dict[str, Binding] = {}
    """Artifacts it is given."""
    artifact_paths: dict[str, str] = {}
    """Where the program finds them."""
    after: list[str] = []
    """Steps to wait for besides those whose outputs are used."""
    outputs: list[str] | dict[str, Output] = []
    makes: dict[str, Artifact] = {}
    """Artifacts it hands over."""
    when: When | None = None
    each: Each | None = None
    always: bool = False
    """Run once all it needs has ended, however it did."""
    retry: Retry = Retry()
    cache: Cache = Cache()

    def needs(self) -> frozenset[str]:
        """The names of the steps that must have ended well before this one starts."""
        return self._needs

    # Asked of every step at every look at a run.
    @cached_property
    def _needs(self) -> frozenset[str]:
        bindings = [*self.inputs.values(), *self.extras.values(), *self.artifacts.values()]
        bindings += self.when.bindings() if self.when else []
        bindings += [self.each.items] if self.each else []
        used = {name for binding in bindings for name in binding.needs()}
        return frozenset(used | set(self.after))

    def handed(self) -> dict[str, Output]:
        return self.outputs if isinstance(self.outputs, dict) else {n: Output() for n in self.outputs}


class SubGraph(Value):
    """Steps that are one step of another graph."""

    steps: list[Step]
    outputs: dict[str, list[Binding]] = {}
    """What it hands over: of several bindings the first whose step ran."""
    artifacts: dict[str, list[Binding]] = {}
    defaults: dict[str, Any] = {}
    limit: int = 0
    """How many of its steps at a time; 0: all."""

    @cached_property
    def ordered(self) -> tuple[Step, ...]:
        """The steps, each after what it needs."""
        by_name = {s.name: s for s in self.steps}
        order = TopologicalSorter({s.name: sorted(s.needs() & set(by_name)) for s in self.steps})
        return tuple(by_name[name] for name in order.static_order())


class Graph(Value):
    """A compiled pipeline."""

    name: str
    parameters: dict[str, Any] = {}
    """Defaults; one without has the value None."""
    types: dict[str, str] = {}
    """What parameters are to be, as kfp 2 calls it (NUMBER_INTEGER, LIST, …); others may be anything."""
    steps: list[Step]
    graphs: dict[str, SubGraph] = {}
    after_skipped: bool = False
    """Whether a step runs although one it waits for was skipped."""
    on_exit: Step | None = None
    """Run last, however the rest ended."""
    seconds: float | None = None
    """How long a run may take."""
    limit: int = 0

    @cached_property
    def top(self) -> SubGraph:
        """Its own steps."""
        return SubGraph(steps=self.steps)

    def digest(self) -> str:
        """The identity of the package: same text, same digest."""
        return hashlib.sha256(json.dumps(self.wire(), sort_keys=True).encode()).hexdigest()

    def every_step(self) -> list[Step]:
        inner = [step for graph in self.graphs.values() for step in graph.steps]
        return [*self.steps, *inner, *([self.on_exit] if self.on_exit else [])]

    @cached_property
    def asks_cache(self) -> bool:
        """Whether any step may be answered from the cache."""
        return any(step.cache.enabled for step in self.every_step())

    @cached_property
    def lenient(self) -> bool:
        """Whether it is one of our own, where an absent value is an empty text."""
        return all(step.form == "plain" for step in self.every_step())


def references(text: str) -> list[str]:
    """What stands between double braces."""
    found = []
    for part in text.split("{{")[1:]:
        inside, closed, _ = part.partition("}}")
        if closed:
            found.append(inside.strip())
    return found


def graph_of(text: str) -> Graph:
    """The graph kept as JSON in a package."""
    body: Any = json.loads(text)
    return Graph.model_validate(body)
