"""YAML that blows itself up, and YAML that only looks odd: refused, or read as Kubernetes reads it."""

from __future__ import annotations

import pytest
from tests.contracts.objects import core
from tests.kubernetes.rest import Answer, Rest

YAML, APPLY = "application/yaml", "application/apply-patch+yaml"
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%b]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in b"bcdefghij"
)


@pytest.mark.parametrize("content_type", [YAML, APPLY])
def test_yaml_that_repeats_itself_into_gigabytes_is_refused(
    rest: Rest, namespace: str, content_type: str
) -> None:
    method, name = ("POST", "") if content_type == YAML else ("PATCH", "settings")
    headers, query = {"Content-Type": content_type}, {"fieldManager": "bomb"}
    path = core(namespace, "configmaps", name)
    answer = rest.send(method, path, BOMB, query=query, headers=headers).expect(400)
    assert "document contains excessive aliasing" in answer["message"]


def in_yaml(rest: Rest, namespace: str, data: str, **query: str) -> Answer:
    text = f"metadata: {{name: settings}}\ndata:\n{data}\n"
    path = core(namespace, "configmaps")
    return rest.send("POST", path, text, query={"dryRun": "All", **query}, headers={"Content-Type": YAML})


@pytest.mark.parametrize(
    "data, kept",
    [
        (" a: 2020-01-01", {"a": "2020-01-01"}),
        (" a: 1:30:00", {"a": "1:30:00"}),
        (" a: !!str 1", {"a": "1"}),
        (" a: !!binary aGk=", {"a": "hi"}),
        (" a: !own x", {"a": "x"}),
        (" a: tRUE", {"a": "tRUE"}),
        (" 1: x", {"1": "x"}),
        (" 0x10: x", {"16": "x"}),
        (" 1e3: x", {"1000": "x"}),
        (" true: x", {"true": "x"}),
        (" a: &a x\n b: *a", {"a": "x", "b": "x"}),
        (" a: x\n a: z", {"a": "z"}),
        (" <<: {a: b}\n a: c", {"a": "c"}),
        (" a: c\n <<: {a: b, d: e}", {"a": "b", "d": "e"}),
        (" <<: [{a: b}, {a: c, e: f}]", {"a": "b", "e": "f"}),
        (" a: x\n---\nmetadata: {name: other}", {"a": "x"}),
    ],
)
def test_yaml_means_what_it_means_to_kubernetes(
    rest: Rest, namespace: str, data: str, kept: dict[str, str]
) -> None:
    assert in_yaml(rest, namespace, data).expect(201)["data"] == kept


@pytest.mark.parametrize(
    "data, words",
    [
        (" a: yes", "cannot unmarshal bool"),
        (" a: y", "cannot unmarshal bool"),
        (" a: 017", "cannot unmarshal number"),
        (" a: 08", "cannot unmarshal number"),
        (" a: 1_000", "cannot unmarshal number"),
        (" a: 1e3", "cannot unmarshal number"),
        (" a: .nan", "json: unsupported value: NaN"),
        (" a: -.inf", "json: unsupported value: -Inf"),
        (" a: !!int x", "as a !!int"),
        (" [a]: x", "invalid map key"),
        (" a: &a [*a]", "anchor 'a' value contains itself"),
        (" a: *nobody", "unknown anchor 'nobody' referenced"),
        (" <<: x", "map merge requires map or sequence of maps as the value"),
        (" a: {b", ""),
        (' a: "\\ud800"', ""),
        (" a: \x00", ""),
    ],
)
def test_yaml_that_makes_no_sense_is_told_why(
    rest: Rest, common_namespace: str, data: str, words: str
) -> None:
    assert words in in_yaml(rest, common_namespace, data).expect(400)["message"]


def test_strict_validation_names_what_yaml_says_twice(rest: Rest, common_namespace: str) -> None:
    answer = in_yaml(rest, common_namespace, " a: x\n a: z", fieldValidation="Strict").expect(400)
    assert "strict decoding error" in answer["message"] and "a" in answer["message"]
