"""OpenAPI v3: per group and version the paths and schemas that kubectl validates and explains with; pure.

A custom kind carries its whole schema; a built-in one is named but left open.
"""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import orjson

from .kinds import Kind
from .registry import Registry

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# kubectl looks for these two on the patch operation to learn what the server can do.
PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation", "force")
]


def index(registry: Registry) -> dict[str, Any]:
    versions = {(k.group, k.version) for k in registry.kinds}
    return {
        "paths": {
            (path := root(group, version)): {
                "serverRelativeURL": f"/openapi/v3/{path}?hash={digest(registry, group, version)}"
            }
            for group, version in sorted(versions)
        }
    }


def digest(registry: Registry, group: str, version: str) -> str:
    return hashlib.sha256(document(registry, group, version) or b"").hexdigest().upper()[:32]


def document(registry: Registry, group: str, version: str) -> bytes | None:
    kinds = registry.in_version(group, version)
    if not kinds:
        return None
    schemas: dict[str, Any] = {META: OPEN}
    paths: dict[str, Any] = {}
    for kind in kinds:
        name = f"{'.'.join(reversed((group or 'core').split('.')))}.{version}.{kind.kind}"
        schemas[name] = kind_schema(kind)
        scope = "/namespaces/{namespace}" if kind.namespaced else ""
        path = f"/{root(group, version)}{scope}/{kind.plural}"
        paths[path] = {"get": operation(kind, "list", name), "post": operation(kind, "post", name)}
        paths[f"{path}/{{name}}"] = {
            verb: operation(kind, verb, name) for verb in ("get", "put", "patch", "delete")
        }
    return orjson.dumps(
        {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "v1.33.13"},
            "paths": paths,
            "components": {"schemas": schemas},
        }
    )


def root(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def operation(kind: Kind, verb: str, schema: str) -> dict[str, Any]:
    return {
        "operationId": f"{verb}{kind.kind}",
        "parameters": PARAMETERS,
        "responses": {
            "200": {
                "description": "OK",
                "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
            }
        },
        "x-kubernetes-action": verb,
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
    }


def kind_schema(kind: Kind) -> dict[str, Any]:
    body: dict[str, Any] = copy.deepcopy(kind.schema) if kind.schema else dict(OPEN)
    body["x-kubernetes-group-version-kind"] = [
        {"group": kind.group, "version": kind.version, "kind": kind.kind}
    ]
    if kind.schema:
        properties = body.setdefault("properties", {})
        properties["metadata"] = {"allOf": [{"$ref": f"#/components/schemas/{META}"}]}
    return body
