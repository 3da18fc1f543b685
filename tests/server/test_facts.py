"""The book of facts: of the pinned version, without sentences, light to open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.kubernetes import build

from paddlecloud.embedded.server import facts
from paddlecloud.embedded.server.facts.book import book, content
from paddlecloud.embedded.server.facts.structs import fields_of, flattened, handling
from paddlecloud.embedded.server.kinds import CRD, WHO_AM_I, Kind

KINDS = {(k.group, k.version, k.plural): k for k in facts.kinds()}
PACKAGE = Path(facts.__file__).parent


def test_the_facts_are_about_the_version_that_the_contracts_run_against() -> None:
    assert facts.version() == build.version()


def test_no_description_came_along() -> None:
    text = content("kubernetes-1.33.json.gz").decode()
    assert not re.search(r'\\?"description\\?"\s*:\s*\\?"', text)
    assert "More info" not in text
    assert b"More info" not in content("kubernetes-1.33.protoset.gz")


def test_whose_facts_they_are_is_said_beside_them() -> None:
    assert "Apache License" in (PACKAGE / "NOTICE").read_text()


@pytest.mark.parametrize("kind", [CRD, WHO_AM_I])
def test_kinds_the_server_acts_on_are_those_of_the_facts(kind: Kind) -> None:
    assert KINDS[kind.group, kind.version, kind.plural] == kind


@pytest.mark.parametrize("kind", facts.kinds(), ids=lambda k: k.full_name)
def test_every_kind_has_a_schema_and_a_struct(kind: Kind) -> None:
    schema = facts.schema_of(kind)
    assert schema is not None and schema["type"] == "object"
    assert handling(book()["resources"][facts.kinds().index(kind)]["type"]).struct


def test_every_type_of_every_field_is_known() -> None:
    for struct in book()["structs"]:
        for field in flattened(struct):
            assert callable(handling(field.go_type).convert)


@pytest.mark.parametrize(
    "path", [("", "v1", "bindings"), ("authentication.k8s.io", "v1", "tokenreviews"),
             ("authorization.k8s.io", "v1", "subjectaccessreviews"), ("", "v1", "componentstatuses")],
)  # fmt: skip
def test_what_is_only_answered_is_not_stored(path: tuple[str, str, str]) -> None:
    assert not KINDS[path].stored


def test_what_is_stored_is_most_of_it() -> None:
    assert sum(k.stored for k in KINDS.values()) >= 50


def test_schemas_refer_to_definitions_that_are_there() -> None:
    for name in facts.definitions():
        for reference in re.findall(
            r'"\$ref":"#/components/schemas/([^"]+)"', facts.definitions().texts[name]
        ):
            assert reference in facts.definitions()


def test_types_tell_how_lists_are_merged() -> None:
    containers = facts.type_of(KINDS["apps", "v1", "deployments"])
    for field in ("spec", "template", "spec", "containers"):
        inner = containers.field(field)
        assert inner is not None
        containers = inner
    assert (containers.merge_key, containers.list_type, containers.keys) == ("name", "map", ("name",))
    assert containers.strategies == ("merge",)


def test_pointers_are_told_from_values() -> None:
    replicas = {f.name: f for f in fields_of("apps/v1.DeploymentSpec")}
    assert replicas["replicas"].pointer and not replicas["minReadySeconds"].pointer
    probe = {f.name: f for f in fields_of("core/v1.Probe")}
    assert probe["-"].inline and probe["-"].go_type == "core/v1.ProbeHandler"
