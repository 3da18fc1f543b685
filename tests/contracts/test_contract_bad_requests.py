"""Paths, methods, headers and queries that nobody should send: the right code, and nothing happens."""

from __future__ import annotations

import secrets

import pytest
from tests.contracts.objects import config_map, core
from tests.contracts.wire import asked
from tests.kubernetes.rest import Rest

NOT_FOUND = "the server could not find the requested resource"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/../default/configmaps",
        "/api/v1/namespaces/default/%2e%2e/default/configmaps",
        "/api/v1/../v1/pods",
        "/api/v1/./pods",
        "/api//v1/pods",
        "/api/v1/nothing",
        "/api/v9/pods",
        "/apis/apps/v9/deployments",
        "/api/v1/namespaces/default/configmaps/a/b",
        "/api/v1/namespaces/default/configmaps/a/b/c",
        "/api/v1/namespaces/default/pods/x/nothing",
    ],
)
def test_a_path_to_nothing_is_told_in_words(rest: Rest, path: str) -> None:
    answer = asked(rest, "GET", path).expect(404)
    assert (answer["reason"], answer["message"]) == ("NotFound", NOT_FOUND)


@pytest.mark.parametrize(
    "path", ["/..", "/../etc/passwd", "/nothing", "//api/v1/pods", "/apis/nothing.example/v1/things"]
)
def test_a_path_outside_the_api_is_not_found(rest: Rest, path: str) -> None:
    assert asked(rest, "GET", path).status == 404


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "a%2fb", "a%00b", "%ff", "%E4%BD%A0", "x" * 20_000])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_name_that_is_a_trick_names_no_object(
    rest: Rest, common_namespace: str, method: str, name: str
) -> None:
    answer = asked(rest, method, core(common_namespace, "configmaps", name))
    assert answer.status in (400, 404)
    assert answer.body["kind"] == "Status"


@pytest.mark.parametrize("name", ["..", "%2e%2e", "other%2fconfigmaps", "a%00b"])
def test_nothing_is_made_in_a_namespace_that_is_a_trick(rest: Rest, name: str) -> None:
    mine = f"nowhere-{secrets.token_hex(4)}"
    body = b'{"metadata":{"name":"%b"}}' % mine.encode()
    # The other server finds such a name only when it looks the namespace up.
    assert asked(rest, "POST", core(name, "configmaps"), body).status in (400, 404, 405, 500)
    assert mine not in [o["metadata"]["name"] for o in rest.get("/api/v1/configmaps").body["items"]]


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "HEAD"])
def test_a_method_the_api_does_not_have_is_refused(rest: Rest, common_namespace: str, method: str) -> None:
    assert asked(rest, method, core(common_namespace, "configmaps")).status == 405


@pytest.mark.parametrize("method", ["FROB", "get"])
def test_a_method_that_is_none_is_refused(rest: Rest, common_namespace: str, method: str) -> None:
    assert asked(rest, method, core(common_namespace, "configmaps")).status in (400, 405)


@pytest.mark.parametrize(
    "content_type",
    ["text/csv", "application/xml", "multipart/form-data", "application/x-www-form-urlencoded",
     "application/merge-patch+json", "application/cbor"],
)  # fmt: skip
def test_a_body_of_another_type_is_refused_with_those_that_are_read(
    rest: Rest, common_namespace: str, content_type: str
) -> None:
    headers = {"Content-Type": content_type}
    answer = rest.send("POST", core(common_namespace, "configmaps"), config_map(), headers=headers).expect(
        415
    )
    assert answer["reason"] == "UnsupportedMediaType"
    assert answer["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        f"application/json, application/yaml, {PROTOBUF}"
    )


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
def test_a_type_may_be_written_in_other_ways(rest: Rest, namespace: str, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    rest.send("POST", core(namespace, "configmaps"), config_map(), headers=headers).expect(201)


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/merge-patch+yaml"])
def test_a_patch_of_another_type_is_refused(rest: Rest, namespace: str, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    path = core(namespace, "configmaps", "settings")
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    assert rest.send("PATCH", path, {}, headers=headers).expect(415)["reason"] == "UnsupportedMediaType"


@pytest.mark.parametrize(
    "accept",
    ["application/xml, text/html", "application/json;as=Nothing",
     "application/json;as=Table;v=v9;g=meta.k8s.io", "a", "/", ";;;", "application/cbor"],
)  # fmt: skip
def test_an_answer_that_cannot_be_given_is_refused(rest: Rest, common_namespace: str, accept: str) -> None:
    answer = rest.get_as(accept, core(common_namespace, "configmaps")).expect(406)
    assert answer["reason"] == "NotAcceptable"


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "x"},
        {"limit": "1.5"},
        {"limit": "99999999999999999999"},
        {"continue": "x"},
        {"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi8uLi8ifQ"},
        {"continue": "bm90IGpzb24"},
        {"timeoutSeconds": "x", "watch": "1"},
        {"timeoutSeconds": "nan", "watch": "1"},
        {"timeoutSeconds": "1.5", "watch": "1"},
        {"labelSelector": "!"},
        {"labelSelector": ","},
        {"labelSelector": "((((("},
        {"labelSelector": "a>x"},
        {"labelSelector": "a notin (b),a,,c"},
        {"labelSelector": "a" * 64 + "=b"},
        {"labelSelector": "a=" + "b" * 64},
        {"labelSelector": b"\xff"},
        {"fieldSelector": "metadata.name"},
        {"fieldSelector": "metadata.name>a"},
        {"fieldSelector": "metadata.labels.a=b"},
        {"fieldSelector": "metadata.name=a\\"},
    ],
    ids=str,
)
@pytest.mark.parametrize("plural", ["configmaps", "pods"])
def test_a_query_that_makes_no_sense_is_a_bad_request(
    rest: Rest, common_namespace: str, query: dict[str, str], plural: str
) -> None:
    assert rest.get(core(common_namespace, plural), **query).expect(400)["reason"] == "BadRequest"


@pytest.mark.parametrize(
    "version, why",
    [
        ("x", "invalid syntax"),
        ("-1", "invalid syntax"),
        ("1.5", "invalid syntax"),
        ("\N{ARABIC-INDIC DIGIT ONE}", "invalid syntax"),
        ("99999999999999999999999", "value out of range"),
    ],
)
def test_a_version_that_is_none_is_told_why(
    rest: Rest, common_namespace: str, version: str, why: str
) -> None:
    answer = rest.get(core(common_namespace, "configmaps"), resourceVersion=version).expect(400)
    assert answer["message"] == (
        f'invalid resource version: resourceVersion: Invalid value: "{version}": '
        f'strconv.ParseUint: parsing "{version}": {why}'
    )


def test_a_match_nobody_knows_is_refused_with_those_there_are(rest: Rest, common_namespace: str) -> None:
    query = {"resourceVersion": "1", "resourceVersionMatch": "Roughly"}
    answer = rest.get(core(common_namespace, "configmaps"), **query).expect(422)
    assert 'Unsupported value: "Roughly": supported values: "Exact", "NotOlderThan", ""' in answer["message"]


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a.", "a" * 254, "a b", "a/b", "..", "é", "a\x00", "a\n"])
def test_a_name_that_breaks_the_rules_is_told_the_rule(rest: Rest, common_namespace: str, name: str) -> None:
    answer = rest.post(core(common_namespace, "configmaps"), config_map(name)).expect(422)
    assert {cause["field"] for cause in answer["details"]["causes"]} == {"metadata.name"}
    assert "a lowercase RFC 1123 subdomain" in answer["message"] or "no more than 253" in answer["message"]


def test_a_header_of_two_megabytes_is_too_large(rest: Rest, common_namespace: str) -> None:
    try:
        answer = asked(rest, "GET", core(common_namespace, "configmaps"), X_Long="a" * (2 << 20))
    except OSError:
        return  # hung up on while we were still talking
    assert answer.status in (400, 431)


def test_a_long_selector_is_read(rest: Rest, common_namespace: str) -> None:
    names = ",".join(f"value-{i}" for i in range(2000))
    assert (
        rest.get(core(common_namespace, "configmaps"), labelSelector=f"a in ({names})").expect(200)["items"]
        == []
    )
