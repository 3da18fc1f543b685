"""Turns a resource class into the CustomResourceDefinition that serves it.

pydantic's JSON schema is not a Kubernetes *structural* schema: every `$ref` is inlined, an optional
field loses its `anyOf … null`, titles go, and a default stays only where the server should fill it in.
"""

from __future__ import annotations

from typing import Any

from .meta import Resource
from .sentences import DescribedSchema
from .template import OPAQUE

DROPPED = ("$defs", "title", "default", "$ref", "anyOf", "allOf")


def crd(kind: type[Resource]) -> dict[str, Any]:
    described = kind.model_json_schema(by_alias=True, schema_generator=DescribedSchema)
    schema = structural(described, defaults=False)
    schema["properties"] = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        **schema["properties"],
        "metadata": {"type": "object"},
    }
    if "spec" in schema["properties"]:
        schema["properties"]["spec"] = structural(
            described["properties"]["spec"], described.get("$defs", {}), defaults=True
        )
    version: dict[str, Any] = {
        "name": kind.version(),
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [printed(c) for c in kind.columns],
    }
    if kind.has_status:
        version["subresources"] = {"status": {}}
    if kind.scale:
        version["subresources"] |= {
            "scale": {
                "specReplicasPath": kind.scale.wanted,
                "statusReplicasPath": kind.scale.there,
                "labelSelectorPath": kind.scale.selector,
            }
        }
    names = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "shortNames": list(kind.short_names),
        "categories": list(kind.categories),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group()}"},
        "spec": {
            "group": kind.group(),
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {k: v for k, v in names.items() if v},
            "versions": [version],
        },
    }


def printed(column: Any) -> dict[str, Any]:
    body = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return {**body, "priority": 1} if column.wide else body


def structural(node: Any, defs: dict[str, Any] | None = None, *, defaults: bool) -> Any:
    """Rewrite a pydantic JSON schema as a structural schema; *defaults*: keep the scalar ones."""
    if isinstance(node, list):
        return [structural(n, defs, defaults=defaults) for n in node]
    if not isinstance(node, dict):
        return node
    defs = defs if defs is not None else node.get("$defs", {})
    merged = resolve(node, defs)
    kept = {k: v for k, v in merged.items() if k not in DROPPED}
    if defaults and worth_a_default(merged.get("default")):
        kept["default"] = merged["default"]
    if is_opaque(kept):
        return {**OPAQUE, **{k: v for k, v in kept.items() if k == "description"}}
    if isinstance(kept.get("additionalProperties"), dict):
        kept["additionalProperties"] = structural(kept["additionalProperties"], defs, defaults=defaults)
    if "properties" in kept:
        kept["properties"] = {
            name: structural(value, defs, defaults=defaults) for name, value in kept["properties"].items()
        }
        # What only pydantic means by it; Kubernetes forbids the two together.
        kept.pop("additionalProperties", None)
    if "items" in kept:
        kept["items"] = structural(kept["items"], defs, defaults=defaults)
    return kept


def resolve(node: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """Inline the reference and unwrap the optional; what the field itself says wins over its type."""
    own = {k: v for k, v in node.items() if k not in ("$ref", "anyOf", "allOf")}
    if "$ref" in node:
        return {**resolve(defs[node["$ref"].rsplit("/", 1)[1]], defs), **own}
    if "anyOf" in node:
        [only] = [n for n in node["anyOf"] if n != {"type": "null"}]
        return {**resolve(only, defs), **own}
    return node


def worth_a_default(value: Any) -> bool:
    """False, 0, "" and empty lists are what an absent field means anyway."""
    return isinstance(value, str | int | float) and value not in ("", 0, False)


def is_opaque(node: dict[str, Any]) -> bool:
    return (
        node.get("type") == "object"
        and "properties" not in node
        and node.get("additionalProperties", True) is True
        and "x-kubernetes-preserve-unknown-fields" not in node
    )
