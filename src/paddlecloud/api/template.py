"""Pod templates and other parts of a manifest that stay as the user wrote them.

Of a template only the shape is told of what controllers read or add to: a list is a list and an object an
object, at admission on every cluster. What the parts say is for Kubernetes to judge when the pod is made.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

Schema = dict[str, Any]

OPAQUE: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "object", "additionalProperties": TEXT}

Opaque = Annotated[dict[str, Any], WithJsonSchema(OPAQUE)]
"""Anything; Kubernetes itself checks it where it is used."""


def some(**properties: Schema) -> Schema:
    """An object of which these parts have a shape; whatever else it says is kept."""
    return {**OPAQUE, "properties": properties}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


CONTAINER = some(
    image=TEXT,
    env=listed(OPAQUE),
    envFrom=listed(OPAQUE),
    ports=listed(OPAQUE),
    volumeMounts=listed(OPAQUE),
    resources=some(requests=OPAQUE, limits=OPAQUE),
)
NODE_TERMS = some(nodeSelectorTerms=listed(some(matchExpressions=listed(OPAQUE))))
AFFINITY = some(nodeAffinity=some(requiredDuringSchedulingIgnoredDuringExecution=NODE_TERMS))
POD: Schema = {
    **some(
        containers={**listed(CONTAINER), "minItems": 1},
        initContainers=listed(CONTAINER),
        volumes=listed(OPAQUE),
        affinity=AFFINITY,
        schedulerName=TEXT,
        restartPolicy=TEXT,
    ),
    "required": ["containers"],
}
TEMPLATE: Schema = {
    **some(metadata=some(labels=TEXTS, annotations=TEXTS), spec=POD),
    "description": "The pod of this role, as in a Deployment: metadata and spec.",
    "required": ["spec"],
}

PodTemplate = Annotated[dict[str, Any], WithJsonSchema(TEMPLATE)]
"""Opaque but for its shape: "no container" is refused at admission, on every cluster."""

SHAPES: dict[str, tuple[type, str]] = {
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "string": (str, "a text"),
}


def misshapen(part: Any, schema: Schema = TEMPLATE, path: str = "template") -> str:
    """Which part of a template has not its shape; empty where all have.

    For objects that were stored under a definition that did not ask for it.
    """
    shape, words = SHAPES[schema["type"]]
    if not isinstance(part, shape):
        return f"{path} must be {words}"
    if isinstance(part, list):
        for number, item in enumerate(part):
            if wrong := misshapen(item, schema["items"], f"{path}[{number}]"):
                return wrong
    elif isinstance(part, dict):
        known, rest = schema.get("properties", {}), schema.get("additionalProperties")
        for name, inner in part.items():
            wanted = known.get(name, rest)
            # A field without a value counts as absent.
            if wanted and inner is not None and (wrong := misshapen(inner, wanted, f"{path}.{name}")):
                return wrong
    return ""
