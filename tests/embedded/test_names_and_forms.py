"""Names and labels that Kubernetes accepts, and the form of an answer a client asks for."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server.kinds import Kind
from paddlecloud.embedded.server.names import check_metadata
from paddlecloud.embedded.server.negotiation import Form, wanted, wants_aggregated
from paddlecloud.errors import NotAcceptable

PODS, SPACES = Kind("", "v1", "Pod", "pods"), Kind("", "v1", "Namespace", "namespaces", namespaced=False)


def problems(kind: Kind, **metadata: Any) -> list[str]:
    return [v.field for v in check_metadata(kind, {"name": "x", **metadata})]


@pytest.mark.parametrize("name", ["a", "a-b", "a.b.c", "0", "1-2.3", "x" * 253])
def test_names_of_objects(name: str) -> None:
    assert problems(PODS, name=name) == []


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", "a..b", ".a", "a.", "a b", "x" * 254, "ä", "a/b", "a\n"]
)
def test_names_that_are_none(name: str) -> None:
    assert problems(PODS, name=name) == ["metadata.name"]


@pytest.mark.parametrize(
    "name, fine", [("ml", True), ("m-l", True), ("m.l", False), ("x" * 63, True), ("x" * 64, False)]
)
def test_a_name_that_becomes_part_of_a_host_name_has_no_dots(name: str, fine: bool) -> None:
    assert (problems(SPACES, name=name) == []) is fine


def test_a_bad_name_is_told_with_the_rule() -> None:
    [found] = check_metadata(PODS, {"name": "Bad_Name"})

    assert found.message.startswith(
        'Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of'
    )


def test_a_missing_name_is_told_as_missing() -> None:
    [found] = check_metadata(PODS, {})

    assert (found.reason, found.message) == (
        "FieldValueRequired", "Required value: name or generateName is required",
    )  # fmt: skip


@pytest.mark.parametrize(
    "labels, fine",
    [
        ({"app": "web"}, True),
        ({"example.com/app_1.x": "A_b.c-1"}, True),
        ({"a": ""}, True),
        ({"a": "x" * 63}, True),
        ({"a": "x" * 64}, False),
        ({"a": "-x"}, False),
        ({"": "x"}, False),
        ({"a b": "x"}, False),
        ({"x" * 64: "x"}, False),
        ({"/a": "x"}, False),
    ],
)
def test_labels(labels: dict[str, Any], fine: bool) -> None:
    # One label can be wrong in two ways.
    assert set(problems(PODS, labels=labels)) == (set() if fine else {"metadata.labels"})


def test_annotations_may_be_long_but_not_endless() -> None:
    assert problems(PODS, annotations={"a": "x" * 200_000}) == []
    assert problems(PODS, annotations={"a": "x" * 300_000}) == ["metadata.annotations"]


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    "accept, form",
    [
        ("", Form.PLAIN),
        ("*/*", Form.PLAIN),
        ("application/json", Form.PLAIN),
        ("application/json; charset=utf-8", Form.PLAIN),
        (f"{TABLE},application/json", Form.TABLE),
        ("application/json, " + TABLE, Form.PLAIN),  # the first that fits
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Form.PLAIN),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Form.PARTIAL),
        ("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", Form.PARTIAL),
        ("application/vnd.kubernetes.protobuf, application/json", Form.PLAIN),
        ("text/html, application/*;q=0.5", Form.PLAIN),
    ],
)
def test_the_first_form_we_can_give_is_given(accept: str, form: Form) -> None:
    assert wanted(accept) is form


@pytest.mark.parametrize(
    "accept", ["text/html", "application/vnd.kubernetes.protobuf", "application/json;as=Poem"]
)
def test_a_form_we_cannot_give_is_refused(accept: str) -> None:
    with pytest.raises(NotAcceptable):
        wanted(accept)


@pytest.mark.parametrize(
    "accept, version",
    [
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", "v2"),
        ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "v2beta1"),
        ("application/json;as=APIGroupDiscoveryList;v=v7,application/json", ""),
        ("application/json", ""),
        ("", ""),
    ],
)
def test_discovery_in_one_document_is_asked_for(accept: str, version: str) -> None:
    assert wants_aggregated(accept) == version
