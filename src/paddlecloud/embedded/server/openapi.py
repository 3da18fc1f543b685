"""OpenAPI v3: per group and version the paths and schemas that kubectl validates and explains with.

Built-in kinds are told from the facts, custom ones from their definitions. A document is made once, packed,
and known by the digest in its address: whoever has it under that address never asks again.
"""

from __future__ import annotations

import copy
import functools
import gzip
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from . import facts
from .kinds import Kind, Subresource
from .registry import Registry

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
# What the metadata of every object is made of.
METADATA = (
    META,
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry",
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
)
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
REFERENCE = "#/components/schemas/"
# kubectl looks for dryRun and fieldValidation on the patch operation to learn what the server can do.
PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation", "force")
]
COLLECTION = {"list": ("get", "list"), "create": ("post", "post"), "deletecollection": ("delete", "delete")}
OBJECT = {
    "get": ("get", "get"),
    "update": ("put", "put"),
    "patch": ("patch", "patch"),
    "delete": ("delete",) * 2,
}


class Document(NamedTuple):
    packed: bytes
    """In gzip, as nearly every client takes it."""
    digest: str

    @property
    def content(self) -> bytes:
        return gzip.decompress(self.packed)


def index(registry: Registry) -> dict[str, Any]:
    versions = {(k.group, k.version) for k in registry.kinds}
    return {"paths": {root(*gv): {"serverRelativeURL": address(registry, *gv)} for gv in sorted(versions)}}


def address(registry: Registry, group: str, version: str) -> str:
    return f"/openapi/v3/{root(group, version)}?hash={digest(registry, group, version)}"


def digest(registry: Registry, group: str, version: str) -> str:
    """Known without making the document of a built-in version: facts do not change while we run."""
    if any(k.custom for k in registry.in_version(group, version)):
        found = document(registry, group, version)
        return found.digest if found else ""
    return built_in_digest(group, version)


def built_in_digest(group: str, version: str) -> str:
    return hashlib.sha512(f"{facts.digest()} {group}/{version}".encode()).hexdigest().upper()


def document(registry: Registry, group: str, version: str) -> Document | None:
    kinds = registry.in_version(group, version)
    if not kinds:
        return None
    if not any(k.custom for k in kinds):
        return built_in(group, version)
    if (known := registry.documents.get((group, version))) is None:
        known = registry.documents[group, version] = custom(kinds)
    return known


@functools.cache
def built_in(group: str, version: str) -> Document:
    kinds = [k for k in facts.kinds() if (k.group, k.version) == (group, version)]
    packed = gzip.compress(assembled(kinds, facts.names_in(group, version), {}), 6, mtime=0)
    return Document(packed, built_in_digest(group, version))


def custom(kinds: list[Kind]) -> Document:
    content = assembled(kinds, METADATA, {schema_name(k): kind_schema(k) for k in kinds})
    return Document(gzip.compress(content, 6, mtime=0), hashlib.sha512(content).hexdigest().upper())


def assembled(kinds: Iterable[Kind], known: Iterable[str], own: dict[str, Any]) -> bytes:
    """The schemas of the facts are texts already: they are only joined."""
    paths: dict[str, Any] = {}
    for kind in kinds:
        paths |= paths_of(kind)
    head = {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": facts.version()},
        "paths": paths,
    }
    texts = facts.definitions().texts
    schemas = [f'"{name}":{texts[name]}'.encode() for name in known]
    schemas += [orjson.dumps({name: schema})[1:-1] for name, schema in own.items()]
    return orjson.dumps(head)[:-1] + b',"components":{"schemas":{' + b",".join(schemas) + b"}}}"


def root(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def schema_name(kind: Kind) -> str:
    if not kind.custom:
        return facts.schema_name(kind)
    return f"{'.'.join(reversed(kind.group.split('.')))}.{kind.version}.{kind.kind}"


def paths_of(kind: Kind) -> dict[str, Any]:
    scope = "/namespaces/{namespace}" if kind.namespaced else ""
    path = f"/{root(kind.group, kind.version)}{scope}/{kind.plural}"
    own = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    places = ["namespace"] if kind.namespaced else []
    found = {
        path: operations(kind.verbs, COLLECTION, own, schema_name(kind), places),
        f"{path}/{{name}}": operations(kind.verbs, OBJECT, own, schema_name(kind), [*places, "name"]),
    }
    for sub in kind.subresources:
        answer = answered(kind, sub)
        verbs = ["post" if v == "create" else v for v in sub.verbs]
        table = {**OBJECT, "post": ("post", "post")}
        found[f"{path}/{{name}}/{sub.name}"] = operations(
            verbs, table, answer, schema_name(kind) if answer == own else "", [*places, "name"]
        )
    return {path: found for path, found in found.items() if len(found) > 1}


def answered(kind: Kind, subresource: Subresource) -> dict[str, str]:
    owner = subresource if subresource.group else kind
    return {"group": owner.group, "version": owner.version, "kind": subresource.kind or kind.kind}


def operations(
    verbs: Iterable[str],
    table: Mapping[str, tuple[str, ...]],
    kind: dict[str, str],
    schema: str,
    places: list[str],
) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "uniqueItems": True}}
        for name in places
    ]
    found: dict[str, Any] = {"parameters": parameters}
    for verb in verbs:
        if verb in table:
            method, action = table[verb]
            found[method] = operation(kind, action, method, schema)
    return found


def operation(kind: dict[str, str], action: str, method: str, schema: str) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": {"$ref": REFERENCE + schema} if schema else OPEN}
    made: dict[str, Any] = {
        "responses": {"200": {"description": "OK", "content": {"application/json": body}}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": kind,
    }
    if method != "get":
        made["parameters"] = PARAMETERS
    if method in ("post", "put"):
        made["requestBody"] = {"content": {"*/*": body}, "required": True}
    return made


def kind_schema(kind: Kind) -> dict[str, Any]:
    """A custom kind's schema, with what every object has."""
    body: dict[str, Any] = copy.deepcopy(kind.schema) if kind.schema else dict(OPEN)
    body["x-kubernetes-group-version-kind"] = [
        {"group": kind.group, "version": kind.version, "kind": kind.kind}
    ]
    if kind.schema:
        properties = body.setdefault("properties", {})
        properties["metadata"] = {"allOf": [{"$ref": REFERENCE + META}]}
    return body
