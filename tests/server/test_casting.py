"""Built-in objects as Go reads and writes them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlecloud.embedded.server import facts
from paddlecloud.embedded.server.casting import Unfit, cast
from paddlecloud.embedded.server.duplicates import duplicates
from paddlecloud.embedded.server.facts.scalars import (
    Mismatch,
    binary,
    canonical,
    micro_time,
    quantity,
    time,
)  # fmt: skip
from paddlecloud.embedded.server.facts.structs import shown

KINDS = {k.plural: k for k in facts.kinds()}


def made(plural: str, body: dict[str, Any]) -> dict[str, Any]:
    cast_body, unknown = cast(KINDS[plural], body)
    assert unknown == []
    return cast_body


@pytest.mark.parametrize(
    "written, stored",
    [
        ("1000m", "1"), ("1500m", "1500m"), ("0.5", "500m"), (".5", "500m"), ("1", "1"), ("1000", "1k"),
        ("100000", "100k"), ("0", "0"), ("0.0", "0"), ("-1", "-1"), ("1Ki", "1Ki"), ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"), ("1e3", "1e3"), ("12E6", "12e6"), ("1E", "1E"), ("5Ti", "5Ti"),
        ("0.1n", "1n"), ("1500000u", "1500m"),
    ],
)  # fmt: skip
def test_an_amount_is_stored_in_one_way(written: str, stored: str) -> None:
    assert canonical(written) == stored


@given(st.integers(0, 10**15), st.sampled_from(["", "m", "k", "M", "Ki", "Mi", "Gi"]))
def test_an_amount_as_it_is_stored_stays_as_it_is(number: int, suffix: str) -> None:
    once = canonical(f"{number}{suffix}")
    assert canonical(once) == once


@pytest.mark.parametrize("value", ["", "abc", "1Xi", "1.2.3", True, [1], "1e", "--1"])
def test_what_is_no_amount_is_refused(value: Any) -> None:
    with pytest.raises(Mismatch) as refusal:
        quantity(value)
    assert refusal.value.sentence().startswith("quantities must match the regular expression")


@pytest.mark.parametrize(
    "written, stored",
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+01:00", "2026-01-02T02:04:05Z"),
    ],
)
def test_a_time_is_stored_in_one_way(written: str, stored: str) -> None:
    assert time(written) == stored


def test_a_time_with_parts_of_seconds_needs_them() -> None:
    assert micro_time("2026-01-02T03:04:05.000001Z") == "2026-01-02T03:04:05.000001Z"
    with pytest.raises(Mismatch):
        micro_time("2026-01-02T03:04:05Z")


@pytest.mark.parametrize("value", ["YQ==", "", "/wD+"])
def test_bytes_are_kept_as_they_came(value: str) -> None:
    assert binary(value) == value


@pytest.mark.parametrize("value", ["***", "YQ", "Y Q=", "YQ=="[:3]])
def test_what_is_no_base64_is_refused_without_repeating_it(value: str) -> None:
    with pytest.raises(Mismatch) as refusal:
        binary(value)
    assert value not in refusal.value.sentence()


@pytest.mark.parametrize(
    "field, value, stored",
    [
        ("paused", False, None),  # omitempty, no pointer: the zero vanishes
        ("minReadySeconds", 0, None),
        ("replicas", 0, 0),  # a pointer: the zero was meant
        ("revisionHistoryLimit", 0, 0),
        ("paused", True, True),
        ("replicas", None, None),
    ],
)
def test_zeros_stay_where_go_keeps_a_pointer(field: str, value: Any, stored: Any) -> None:
    assert made("deployments", {"metadata": {}, "spec": {field: value}})["spec"].get(field) == stored


def test_structs_are_there_though_nobody_wrote_them() -> None:
    body = made("deployments", {"metadata": {"name": "x"}})
    assert body["metadata"] == {"name": "x", "creationTimestamp": None}
    assert body["spec"]["template"] == {"metadata": {"creationTimestamp": None}, "spec": {"containers": None}}
    assert (body["spec"]["strategy"], body["status"]) == ({}, {})


def test_inlined_structs_are_the_outer_ones_own() -> None:
    probe = {"httpGet": {"port": 80}, "timeoutSeconds": 0}
    spec = {"containers": [{"name": "x", "livenessProbe": probe}], "volumes": [{"name": "v", "emptyDir": {}}]}
    body = made("pods", {"metadata": {}, "spec": spec})
    assert body["spec"]["containers"][0]["livenessProbe"] == {"httpGet": {"port": 80}}
    assert body["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_unknown_fields_are_named_in_order_and_left_out() -> None:
    spec = {"a": 1, "containers": [{"name": "x"}, {"name": "y", "b": {}, "env": [{"name": "e", "c": 1}]}]}
    body, unknown = cast(KINDS["pods"], {"metadata": {"d": 1}, "spec": spec, "e": None})
    assert unknown == ["metadata.d", "spec.a", "spec.containers[1].b", "spec.containers[1].env[0].c", "e"]
    assert body["spec"]["containers"][1] == {"name": "y", "env": [{"name": "e"}], "resources": {}}


def test_schemas_of_custom_kinds_may_contain_themselves() -> None:
    inner = {"items": {"type": "string"}, "type": "array", "default": [0]}
    schema = {"type": "object", "properties": {"a": inner},
              "additionalProperties": False, "x-kubernetes-preserve-unknown-fields": True}  # fmt: skip
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "g", "scope": "Namespaced", "names": {"plural": "p", "kind": "K"}, "versions": [version]}
    body = made("customresourcedefinitions", {"metadata": {}, "spec": spec})
    assert body["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == schema


def test_an_object_in_its_form_stays_as_it_is() -> None:
    once = made("pods", {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "x", "env": []}]}})
    assert made("pods", once) == once


def test_a_schema_that_is_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(2000):
        schema = {"type": "object", "properties": {"a": schema}}
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    with pytest.raises(Unfit, match="exceeded max depth"):
        cast(KINDS["customresourcedefinitions"], {"metadata": {}, "spec": {"versions": [version]}})


@pytest.mark.parametrize(
    "go_type, text",
    [
        ("[]core/v1.EnvVar", "[]v1.EnvVar"), ("[]byte", "[]uint8"),
        ("map[string]string", "map[string]string"),
        ("map[core/v1.ResourceName]api/resource.Quantity", "map[v1.ResourceName]resource.Quantity"),
        ("pkg/types.UID", "types.UID"),
    ],
)  # fmt: skip
def test_types_are_named_as_go_names_them(go_type: str, text: str) -> None:
    assert shown(go_type) == text


@pytest.mark.parametrize(
    "content, body, found",
    [
        (b'{"a":1}', {"a": 1}, []),
        (b'{"a":1,"a":2}', {"a": 2}, ["a"]),
        (b'{"a":[{"b":1,"c":{"d":1,"d":2}}]}', {"a": [{"b": 1, "c": {"d": 2}}]}, ["a[0].c.d"]),
        (b'{"a":"{\\"b\\": 1}"}', {"a": '{"b": 1}'}, []),
        (b'{"a": 1, "a" : 1, "a": 1}', {"a": 1}, ["a", "a"]),
    ],
)
def test_repeated_fields_are_found(content: bytes, body: Any, found: list[str]) -> None:
    assert duplicates(content, body) == found
