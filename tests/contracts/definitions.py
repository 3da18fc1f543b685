"""CustomResourceDefinitions for the contracts: each with a group of its own, so that tests cannot meet."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}
EITHER = "x-kubernetes-int-or-string"
INSIDE = "x-kubernetes-embedded-resource"
OPEN = "x-kubernetes-preserve-unknown-fields"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
SHARED = "spec.validation.openAPIV3Schema"
"""Where problems of a schema that all versions share are told."""
SPEC = f"{SHARED}.properties[spec]"


def having(**properties: Any) -> dict[str, Any]:
    """The schema of an object whose spec has these fields."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


def version(schema: Any = None, name: str = "v1", **more: Any) -> dict[str, Any]:
    own = {"openAPIV3Schema": schema if schema is not None else having(a=TEXT, n=NUMBER)}
    return {"name": name, "served": True, "storage": True, "schema": own, **more}


def definition(*versions: dict[str, Any], names: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    group = spec.pop("group", f"g{secrets.token_hex(4)}.example.org")
    named = {"plural": "widgets", "kind": "Widget", **(names or {})}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{named['plural']}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": named,
            "versions": list(versions) or [version()],
            **spec,
        },
    }


def condition(rest: Rest, body: dict[str, Any], kind: str) -> dict[str, Any]:
    """One condition of a definition, as soon as it has it."""

    def there() -> dict[str, Any] | None:
        now = rest.get(f"{DEFINITIONS}/{body['metadata']['name']}").expect(200)
        conditions = (now.get("status") or {}).get("conditions") or ()
        return next((c for c in conditions if c["type"] == kind), None)

    return until(there, what=f"{kind} of {body['metadata']['name']}")


class Widgets:
    """The objects of one custom kind, in one namespace."""

    def __init__(self, rest: Rest, body: dict[str, Any], namespace: str) -> None:
        self.rest, self.namespace, self.definition = rest, namespace, body
        self.group = body["spec"]["group"]
        self.at = f"{DEFINITIONS}/{body['metadata']['name']}"

    def path(self, name: str = "", version: str = "v1") -> str:
        plural = self.definition["spec"]["names"]["plural"]
        root = f"/apis/{self.group}/{version}/namespaces/{self.namespace}/{plural}"
        return f"{root}/{name}" if name else root

    def body(self, name: str = "x", version: str = "v1", **parts: Any) -> dict[str, Any]:
        kind = self.definition["spec"]["names"]["kind"]
        return {
            "apiVersion": f"{self.group}/{version}",
            "kind": kind,
            "metadata": {"name": name, **parts.pop("metadata", {})},
            **parts,
        }

    def create(self, **spec: Any) -> Any:
        return self.rest.post(self.path(), self.body(spec=spec))


@contextmanager
def served(rest: Rest, namespace: str, body: dict[str, Any]) -> Iterator[Widgets]:
    """The kind of a definition, for the time of a `with`."""
    rest.post(DEFINITIONS, body).expect(201)
    widgets = Widgets(rest, body, namespace)
    try:
        for each in body["spec"]["versions"]:
            if each["served"]:
                path = widgets.path(version=each["name"])
                until(lambda path=path: rest.get(path).status == 200, what=f"{path} served")  # type: ignore[misc]
        # A server may answer lists a moment before it has built all of the kind.
        condition(rest, body, "Established")
        yield widgets
    finally:
        rest.delete(widgets.at)
