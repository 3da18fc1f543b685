"""What a binding stands for, and whether a condition holds; pure.

Values are JSON. A text is made of one only where a text is wanted, and always in the same way: whole
numbers without a point, `true` and `false`, lists and objects as compact JSON.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..api.workflowgraph import Binding, When
from ..api.workflowrun import StepPhase

REFERENCE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")


class NoValue(Exception):
    """A value that cannot be had; the sentence says why, and becomes the message of the step."""


@dataclass(frozen=True)
class Result:
    """What has become of a step, or of a graph as a step."""

    phase: StepPhase = StepPhase.WAITING
    outputs: Mapping[str, Any] = field(default_factory=dict)
    artifacts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """What the steps of one graph can refer to."""

    parameters: Mapping[str, Any]
    artifacts: Mapping[str, Any]
    results: Mapping[str, Result]
    facts: Mapping[str, str]
    """Of the run: name, id, namespace, …"""
    lenient: bool = False
    """An absent value is an empty text."""
    item: Any = None


def resolve(binding: Binding, scope: Scope, inputs: Mapping[str, Any] | None = None) -> Any:
    """The value; *inputs* are those of the same step that are known. Raises `NoValue`."""
    value = bound(binding, scope, inputs or {})
    for key in binding.keys:
        value = taken(value, key)
    return value


def bound(binding: Binding, scope: Scope, inputs: Mapping[str, Any]) -> Any:
    if binding.output is not None:
        return output(binding.output, scope)
    if binding.parameter is not None:
        return parameter(binding.parameter, scope)
    if binding.item is not None:
        return taken(scope.item, binding.item) if binding.item else scope.item
    if binding.status_of is not None:
        return final_status(binding.status_of, scope)
    if binding.template is not None:
        return filled(binding.template, scope, inputs)
    return binding.value


def parameter(name: str, scope: Scope) -> Any:
    if name in scope.parameters:
        return scope.parameters[name]
    if scope.lenient:
        return ""
    raise NoValue(f"parameter {name} was not given")


def output(reference: str, scope: Scope) -> Any:
    step, _, name = reference.partition(".")
    result = scope.results.get(step)
    if result is not None and name in result.outputs:
        return result.outputs[name]
    if scope.lenient:
        return ""
    ended = f"; it is {result.phase.value}" if result is not None else ""
    raise NoValue(f"step {step} handed over no {name}{ended}")


def artifact(binding: Binding, scope: Scope) -> Any:
    """The artifact, or the list of them, that a binding stands for; a raw text is one too."""
    if binding.parameter is not None and binding.parameter in scope.artifacts:
        return scope.artifacts[binding.parameter]
    if binding.output is not None:
        step, _, name = binding.output.partition(".")
        result = scope.results.get(step)
        if result is not None and name in result.artifacts:
            return result.artifacts[name]
        raise NoValue(f"step {step} handed over no artifact {name}")
    if binding.value is not None or binding.template is not None:
        return {"raw": text_of(resolve(binding, scope))}
    raise NoValue(f"artifact {binding.parameter} was not given")


def final_status(step: str, scope: Scope) -> dict[str, Any]:
    result = scope.results.get(step, Result())
    failed = result.phase is StepPhase.FAILED
    return {
        "state": "FAILED" if failed else "COMPLETE",
        "pipelineTaskName": step,
        "pipelineJobResourceName": scope.facts.get("run.name", ""),
        "error": {},
    }


def filled(template: str, scope: Scope, inputs: Mapping[str, Any]) -> str:
    def put(found: re.Match[str]) -> str:
        kind, _, rest = found[1].partition(".")
        if kind == "parameter":
            return text_of(parameter(rest, scope))
        if kind == "output":
            return text_of(output(rest, scope))
        if kind == "input":
            if rest not in inputs:
                raise NoValue(f"input {rest} was not given")
            return text_of(inputs[rest])
        if kind == "item":
            return text_of(taken(scope.item, rest) if rest else scope.item)
        # What is not ours is text of the user's.
        return scope.facts.get(found[1], found[0])

    return REFERENCE.sub(put, template)


def taken(value: Any, key: str) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise NoValue(f"{key} cannot be taken from {shown(value)}, which is no JSON") from error
    if isinstance(value, dict) and key in value:
        return value[key]
    raise NoValue(f"{shown(value)} has no {key}")


def items_of(value: Any) -> list[Any]:
    """The items of a loop."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise NoValue(f"the items of the loop are no list: {shown(value)}") from error
    if not isinstance(value, list):
        raise NoValue(f"the items of the loop are no list: {shown(value)}")
    return value


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any) -> str:
    text = text_of(value)
    return repr(text if len(text) <= 80 else text[:77] + "…")


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, ">": operator.gt,
    ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


def holds(when: When, scope: Scope, inputs: Mapping[str, Any]) -> bool:
    """Whether a condition holds. Raises `NoValue`."""
    if when.every:
        answer = all(holds(part, scope, inputs) for part in when.every)
    else:
        sides = [resolve(side, scope, inputs) if side else None for side in (when.left, when.right)]
        answer = compared(sides[0], when.op, sides[1])
    return answer != when.negated


def compared(left: Any, op: str, right: Any) -> bool:
    """Two texts are equal as texts; in all other cases what reads as numbers is compared as numbers."""
    texts = isinstance(left, str) and isinstance(right, str)
    if not (texts and op in ("==", "!=")):
        numbers = number(left), number(right)
        if None not in numbers:
            return OPERATORS[op](*numbers)
    if isinstance(left, bool) and isinstance(right, bool):
        return OPERATORS[op](left, right)
    return OPERATORS[op](text_of(left), text_of(right))


def number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
