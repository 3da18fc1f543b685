"""Pod templates and other parts of a manifest that stay as the user wrote them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

OPAQUE: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

Opaque = Annotated[dict[str, Any], WithJsonSchema(OPAQUE)]
"""Anything; Kubernetes itself checks it where it is used."""

PodTemplate = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "The pod of this role, as in a Deployment: metadata and spec.",
            "x-kubernetes-preserve-unknown-fields": True,
            "required": ["spec"],
            "properties": {
                "spec": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "required": ["containers"],
                    "properties": {"containers": {"type": "array", "minItems": 1, "items": OPAQUE}},
                }
            },
        }
    ),
]
"""Opaque but for its containers: "no container" is refused at admission, on every cluster."""
