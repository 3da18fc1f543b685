"""The expressions of Argo and what they are in our graph language; pure."""

from __future__ import annotations

import re
from typing import Any

from ...api.workflowgraph import Binding, When
from ...errors import WrongUse

WHOLE = re.compile(r"^\{\{\s*([^{}]+?)\s*\}\}$")
ANY = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
COMPARISON = re.compile(r"^\s*(.+?)\s*(==|!=|>=|<=|>|<)\s*(.+?)\s*$", re.DOTALL)
FACTS = {
    "workflow.name": "run.name",
    "workflow.uid": "run.id",
    "workflow.namespace": "run.namespace",
    "workflow.status": "run.status",
    "workflow.serviceAccountName": "run.serviceAccountName",
    "workflow.creationTimestamp": "run.created",
    "pod.name": "pod.name",
}


def binding(text: Any) -> Binding:
    """The binding of an argument."""
    if not isinstance(text, str):
        return Binding(value=text)
    if whole := WHOLE.match(text):
        kind, name = reference(whole[1])
        if kind in ("parameter", "output", "item"):
            return Binding(**{kind: name})
    template = ANY.sub(lambda m: "{{" + written(m[1]) + "}}", text)
    return Binding(template=template) if ANY.search(text) else Binding(value=text)


def in_pod(text: str) -> str:
    """A text of a pod, whose references are to the inputs of its own step."""

    def put(found: re.Match[str]) -> str:
        kind, name = reference(found[1])
        if kind == "parameter":
            return "{{input." + name + "}}"
        return "{{" + written(found[1]) + "}}"

    return ANY.sub(put, text)


def reference(inside: str) -> tuple[str, str]:
    """What kind of thing an expression refers to, and its name; one that is not ours stays as it is."""
    parts = inside.split(".")
    if inside in FACTS:
        return "fact", FACTS[inside]
    if parts[0] == "item":
        return "item", ".".join(parts[1:])
    if parts[:2] in (["inputs", "parameters"], ["inputs", "artifacts"]):
        return "parameter", ".".join(parts[2:])
    if parts[:2] == ["workflow", "parameters"]:
        return "fact", "run.parameters." + ".".join(parts[2:])
    if parts[0] == "tasks" and len(parts) > 4 and parts[2] == "outputs":
        return "output", f"{parts[1]}.{'.'.join(parts[4:])}"
    return "text", inside


def written(inside: str) -> str:
    kind, name = reference(inside)
    if kind in ("parameter", "output"):
        return f"{kind}.{name}"
    if kind == "item":
        return f"item.{name}" if name else "item"
    return name


def condition(text: str) -> When:
    """`A op B`, each in quotes or bare. Raises `WrongUse`."""
    found = COMPARISON.match(text)
    if not found:
        raise WrongUse(f"the condition {text!r} is no comparison")
    left, op, right = found.groups()
    return When(left=side(left), op=op, right=side(right))


def side(text: str) -> Binding:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return binding(text)
