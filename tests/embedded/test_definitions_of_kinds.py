"""The CustomResourceDefinitions that are made from our classes: structural, and with the rules in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddlecloud.api.crds import crd
from paddlecloud.api.kinds import EMBEDDED_ONLY, OURS
from paddlecloud.api.meta import Resource
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.embedded.server import ourkinds
from paddlecloud.embedded.server.casting import cast
from paddlecloud.embedded.server.kinds import CRD
from paddlecloud.embedded.server.rules import rules_of
from paddlecloud.embedded.server.schema import default, prune, violations

KINDS = (*OURS, *EMBEDDED_ONLY)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda k: f"{k.plural}.{k.group()}")
ALLOWED = {
    "type", "description", "properties", "additionalProperties", "items", "required", "enum", "default",
    "format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
    "x-kubernetes-validations",
}  # fmt: skip


def schema_of(kind: type[Resource]) -> dict[str, Any]:
    [version] = crd(kind)["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from nodes(inner, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from nodes(schema[name], f"{path}[]")


@each_kind
def test_a_schema_says_only_what_a_structural_one_may(kind: type[Resource]) -> None:
    for path, node in nodes(schema_of(kind)):
        assert set(node) <= ALLOWED, path
        if node.get("x-kubernetes-int-or-string"):
            assert "type" not in node, path
            continue
        assert isinstance(node.get("type"), str), path
        assert not ("properties" in node and "additionalProperties" in node), path
        if node["type"] == "array":
            assert "items" in node, path


@each_kind
def test_only_the_spec_has_defaults(kind: type[Resource]) -> None:
    found = [path for path, node in nodes(schema_of(kind)) if "default" in node]

    assert [path for path in found if not path.startswith(".spec.")] == []


@each_kind
def test_a_definition_names_itself_as_kubernetes_wants_it(kind: type[Resource]) -> None:
    made = crd(kind)
    names = made["spec"]["names"]

    assert made["metadata"]["name"] == f"{names['plural']}.{made['spec']['group']}"
    assert names["kind"] == kind.kind and names["listKind"] == f"{kind.kind}List"
    assert ("status" in made["spec"]["versions"][0].get("subresources", {})) is kind.has_status


def test_no_two_kinds_claim_one_name() -> None:
    claimed = [(k.group(), name) for k in KINDS for name in (k.plural, k.kind, *k.short_names)]

    assert len(claimed) == len(set(claimed))


NO_CONTAINERS: dict[str, Any] = {"spec": {"containers": []}}
CONTAINERS = {"spec": {"containers": [{"name": "c", "image": "i"}]}}


def told(**spec: Any) -> list[str]:
    return [v.field for v in violations({"spec": spec}, schema_of(PaddleJob))]


@pytest.mark.parametrize(
    "spec, field",
    [
        ({"cleanPodPolicy": "OnFailed"}, "spec.cleanPodPolicy"),  # as the samples of the ancestor have it
        ({"cleanPodPolicy": "Nerver"}, "spec.cleanPodPolicy"),
        ({"cleanPolicy": "Sometimes"}, "spec.cleanPolicy"),
        ({"intranet": "Carrier"}, "spec.intranet"),
        ({"withGloo": 3}, "spec.withGloo"),
        ({"withGloo": -1}, "spec.withGloo"),
        ({"worker": {"replicas": -1, "template": CONTAINERS}}, "spec.worker.replicas"),
        ({"worker": {"template": CONTAINERS}}, "spec.worker.replicas"),
        ({"worker": {"replicas": 1}}, "spec.worker.template"),
        ({"worker": {"replicas": 1, "template": {}}}, "spec.worker.template.spec"),
        ({"ps": {"replicas": 1, "template": {"spec": {}}}}, "spec.ps.template.spec.containers"),
        ({"ps": {"replicas": 1, "template": NO_CONTAINERS}}, "spec.ps.template.spec.containers"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_by_the_schema_on_every_cluster(
    spec: dict[str, Any], field: str
) -> None:
    assert told(**spec) == [field]


def test_a_job_as_people_write_it_is_accepted() -> None:
    role = {"replicas": 2, "template": CONTAINERS}

    assert told(worker=role, ps=role, cleanPodPolicy="OnFailure", cleanPolicy="Never", withGloo=1) == []


def test_an_empty_policy_has_no_default_or_the_synonym_would_never_be_heard() -> None:
    [spec] = [node for path, node in nodes(schema_of(PaddleJob)) if path == ".spec"]

    assert "default" not in spec["properties"]["cleanPodPolicy"]


@st.composite
def bodies(draw: Any, schema: dict[str, Any]) -> Any:
    """A value that the schema allows."""
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    match schema["type"]:
        case "object" if "properties" in schema:
            required = set(schema.get("required", ()))
            chosen = {n: s for n, s in schema["properties"].items() if n in required or draw(st.booleans())}
            return {name: draw(bodies(inner)) for name, inner in chosen.items()}
        case "object":
            return {}
        case "array":
            size = schema.get("minItems", 0)
            return draw(st.lists(bodies(schema["items"]), min_size=size, max_size=size + 1))
        case "integer":
            return draw(st.integers(schema.get("minimum", -9), schema.get("maximum", 99)))
        case "number":
            return draw(st.floats(schema.get("minimum", -9), 99, allow_nan=False))
        case "boolean":
            return draw(st.booleans())
    if schema.get("format") == "date-time":
        return "2024-06-01T12:00:00Z"
    return "x" * max(1, schema.get("minLength", 0))


@each_kind
@settings(
    max_examples=15, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_what_the_schema_allows_our_classes_can_read_and_give_back(kind: type[Resource], data: Any) -> None:
    schema = schema_of(kind)
    body = data.draw(bodies(schema)) | {"metadata": {"name": "x"}}
    assert prune(body, schema) == (body, [])
    assert violations(body, schema) == []

    read = kind.read(default(body, schema))
    assert kind.read(read.wire()) == read
    assert violations(read.wire(), schema) == []


@pytest.mark.parametrize("definition", ourkinds.definitions(), ids=lambda d: str(d["metadata"]["name"]))
def test_what_a_start_takes_as_checked_passes_the_check(definition: dict[str, Any]) -> None:
    body, unknown = cast(CRD, definition)
    rules = rules_of(CRD.resource)
    rules.complete(body)
    assert (unknown, list(rules.check(body, None))) == ([], [])
    broken = {**body, "spec": {**body["spec"], "versions": []}}
    assert list(rules.check(broken, None))
