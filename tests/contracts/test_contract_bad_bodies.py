"""Bodies that are too large, too deep, cut off or no text at all: refused, and nothing of them is kept."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs
from tests.contracts.wire import asked, bearer, connected
from tests.kubernetes.rest import JSON, JSON_PATCH, MERGE_PATCH, Answer, Rest

YAML, PROTOBUF = "application/yaml", "application/vnd.kubernetes.protobuf"
APPLY = "application/apply-patch+yaml"
MIB = 1024 * 1024
LARGEST = 3 * MIB
TOO_LARGE = "Request entity too large: limit is 3145728"


def padded(size: int) -> bytes:
    body = json.dumps(config_map()).encode()
    return body + b" " * (size - len(body))


def pushed(rest: Rest, path: str, headers: dict[str, str], parts: Iterable[bytes]) -> tuple[Answer, int]:
    """The answer, and how much could be written before the server would take no more."""
    written = 0
    with connected(rest) as wire:
        wire.begin("POST", path, {**bearer(rest), **headers})
        with contextlib.suppress(OSError):
            for part in parts:
                wire.send(part)
                written += len(part)
        return wire.answer(), written


@pytest.mark.parametrize("content_type", [JSON, YAML, PROTOBUF])
def test_a_hundred_megabytes_are_refused_in_words(
    rest: Rest, common_namespace: str, content_type: str
) -> None:
    headers = {"Content-Type": content_type, "Content-Length": str(100 * MIB)}
    answer, _ = pushed(rest, core(common_namespace, "configmaps"), headers, (b" " * MIB for _ in range(100)))
    refused = answer.expect(413)
    assert (refused["reason"], refused["message"]) == ("RequestEntityTooLarge", TOO_LARGE)


def test_a_body_without_a_length_is_counted_as_it_comes(rest: Rest, common_namespace: str) -> None:
    parts = (b"100000\r\n" + b" " * MIB + b"\r\n" for _ in range(20))
    headers = {"Transfer-Encoding": "chunked"}
    answer, _ = pushed(rest, core(common_namespace, "configmaps"), headers, parts)
    assert answer.expect(413)["message"] == TOO_LARGE


@pytest.mark.parametrize("size, status", [(LARGEST, 201), (LARGEST + 1, 413)])
def test_three_mebibytes_are_the_most(rest: Rest, namespace: str, size: int, status: int) -> None:
    rest.post(core(namespace, "configmaps"), padded(size)).expect(status)


def test_a_patch_may_not_be_larger_either(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps", "settings")
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    refused = rest.send("PATCH", path, padded(LARGEST + 1), headers={"Content-Type": MERGE_PATCH}).expect(413)
    assert refused["message"] == TOO_LARGE


@pytest.mark.parametrize("plural, field", [("configmaps", "[]"), ("secrets", "data")])
def test_settings_and_secrets_hold_a_mebibyte(rest: Rest, namespace: str, plural: str, field: str) -> None:
    def sent(size: int) -> Answer:
        text = "x" * size if plural == "configmaps" else base64.b64encode(b"x" * size).decode()
        body = {"metadata": {"name": "full"}, "data": {"a": text}}
        return rest.post(core(namespace, plural), body, dryRun="All")

    sent(MIB).expect(201)
    [cause] = sent(MIB + 1).expect(422)["details"]["causes"]
    assert cause == {
        "reason": "FieldValueTooLong",
        "message": "Too long: may not be more than 1048576 bytes",
        "field": field,
    }


def test_an_object_larger_than_the_store_takes_is_not_kept(rest: Rest, namespace: str) -> None:
    def large(name: str, size: int) -> Answer:
        env = [{"name": "A", "value": "x" * size}]
        container = {"name": "main", "image": "example/image:1", "env": env}
        spec = {"schedulerName": "nobody", "containers": [container]}
        return rest.post(core(namespace, "pods"), {"metadata": {"name": name}, "spec": spec})

    large("fits", 1_500_000).expect(201)
    refused = large("does-not", 1_600_000)
    # etcd's own refusal comes through as an error of the server.
    assert refused.status in (413, 500)
    assert "request is too large" in refused.body["message"]
    rest.get(core(namespace, "pods", "does-not")).expect(404)


@pytest.mark.parametrize("size, status", [(262_144, 201), (262_145, 422)])
def test_annotations_have_a_quarter_of_a_mebibyte(rest: Rest, namespace: str, size: int, status: int) -> None:
    body = config_map()
    body["metadata"]["annotations"] = {"a": "x" * (size - 1)}
    answer = rest.post(core(namespace, "configmaps"), body).expect(status)
    if status == 422:
        assert "metadata.annotations: Too long: may not be more than 262144 bytes" in answer["message"]


def test_a_packed_body_is_not_unpacked(rest: Rest, namespace: str) -> None:
    packed = gzip.compress(json.dumps(config_map()).encode())
    bomb = gzip.compress(b" " * (100 * MIB))
    for body, encoding in ((packed, "gzip"), (bomb, "gzip"), (packed, "deflate"), (packed, "br")):
        headers = {"Content-Encoding": encoding}
        rest.send("POST", core(namespace, "configmaps"), body, headers=headers).expect(400)
    rest.get(core(namespace, "configmaps", "settings")).expect(404)


@pytest.mark.parametrize("count, status", [(10_000, 200), (10_001, 413)])
def test_a_json_patch_has_ten_thousand_operations(
    rest: Rest, namespace: str, count: int, status: int
) -> None:
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    operations = [{"op": "test", "path": "/kind", "value": "ConfigMap"}] * count
    answer = rest.json_patch(core(namespace, "configmaps", "settings"), operations).expect(status)
    if status == 413:
        assert answer["message"].endswith(
            "The allowed maximum operations in a JSON patch is 10000, got 10001"
        )


def test_a_json_patch_cannot_double_an_object_for_ever(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps", "settings")
    rest.post(core(namespace, "configmaps"), config_map(text="x" * 1000)).expect(201)
    doubling = [{"op": "copy", "from": "/data", "path": f"/data/again-{i}"} for i in range(40)]
    rest.json_patch(path, doubling).expect(422)
    assert list(rest.get(path).expect(200)["data"]) == ["text"]


DEEP = 1_000_000


@pytest.mark.parametrize(
    "method, content_type, body",
    [
        pytest.param("POST", JSON, b'{"data":' + b"[" * DEEP + b"]" * DEEP + b"}", id="JSON"),
        pytest.param("POST", JSON, b'{"a":' * 500_000, id="JSON that is cut off"),
        pytest.param("POST", YAML, b"[" * DEEP + b"]" * DEEP, id="YAML"),
        pytest.param("POST", YAML, b"- " * DEEP, id="YAML in lines"),
        pytest.param("PATCH", MERGE_PATCH, b'{"data":' + b"[" * DEEP + b"]" * DEEP + b"}", id="patch"),
        pytest.param("PATCH", JSON_PATCH, b"[" * DEEP + b"]" * DEEP, id="JSON patch"),
        pytest.param("PATCH", APPLY, b"a: " + b"[" * DEEP + b"]" * DEEP, id="apply"),
    ],
)
def test_what_is_a_million_deep_is_a_bad_request(
    rest: Rest, namespace: str, method: str, content_type: str, body: bytes
) -> None:
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    path = core(namespace, "configmaps", "" if method == "POST" else "settings")
    query = {"fieldManager": "deep"} if content_type == APPLY else {}
    answer = rest.send(method, path, body, query=query, headers={"Content-Type": content_type})
    assert answer.expect(400)["reason"] == "BadRequest"


@pytest.mark.parametrize("depth", [300, 900])
def test_what_is_a_little_too_deep_for_a_field_is_no_error_of_the_server(
    rest: Rest, namespace: str, depth: int
) -> None:
    inner: Any = "x"
    for _ in range(depth):
        inner = {"a": inner}
    body = {"metadata": {"name": "deep"}, "spec": {"worker": {"template": {"spec": inner}}}}
    named = {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", **body}
    assert rest.post(jobs(namespace), named).status < 500


OBJECT = b'{"metadata":{"name":"settings"}%b}'


@pytest.mark.parametrize(
    "body",
    [
        OBJECT % b',"data":{"a":NaN}',
        OBJECT % b',"data":{"a":Infinity}',
        OBJECT % b',"data":{"a":-Infinity}',
        OBJECT % b',"data":{"a":"\x00"}',
        b"\xef\xbb\xbf" + OBJECT % b"",
        (OBJECT % b"").decode().encode("utf-16"),
        OBJECT % b"" + b" x",
        OBJECT % b"" + OBJECT % b"",
        OBJECT % b"/* a comment */",
        b"",
        b"  ",
        b'{"metadata":{"name"',
    ],
)
def test_json_that_is_none_is_a_bad_request(rest: Rest, common_namespace: str, body: bytes) -> None:
    answer = rest.send("POST", core(common_namespace, "configmaps"), body).expect(400)
    assert answer["reason"] == "BadRequest" and answer["message"]
    rest.get(core(common_namespace, "configmaps", "settings")).expect(404)


@pytest.mark.parametrize("number", [b"1e999", b"99999999999999999999999", b"1.5", b"NaN", b"- 1"])
def test_a_number_that_does_not_fit_is_a_bad_request(
    rest: Rest, common_namespace: str, number: bytes
) -> None:
    spec = b'{"containers":[{"name":"a","image":"a"}],"terminationGracePeriodSeconds":%b}' % number
    body = b'{"metadata":{"name":"settings"},"spec":%b}' % spec
    assert rest.send("POST", core(common_namespace, "pods"), body).expect(400)["reason"] == "BadRequest"


@pytest.mark.parametrize(
    "text",
    [b"\\ud800", b"\\udc00\\ud800", b"\xed\xa0\x80", b"\xff\xfe"],
    ids=["lone", "swapped", "raw", "no UTF-8"],
)
def test_no_broken_text_ever_comes_back(rest: Rest, namespace: str, text: bytes) -> None:
    """One server refuses it, the other one puts the sign for unreadable text in its place."""
    body = OBJECT % (b',"data":{"a":"' + text + b'"}')
    answer = rest.send("POST", core(namespace, "configmaps"), body)
    assert answer.status in (201, 400)
    if answer.status == 201:
        assert set(answer.body["data"]["a"]) == {"\N{REPLACEMENT CHARACTER}"}


WHOLE = json.dumps(config_map()).encode()


@pytest.mark.parametrize(
    "headers, sent",
    [
        ({"Content-Length": str(len(WHOLE) + 1)}, WHOLE),
        ({"Transfer-Encoding": "chunked"}, b"%x\r\n%b\r\n" % (len(WHOLE), WHOLE)),
        ({"Transfer-Encoding": "chunked"}, b"%x\r\n%b" % (len(WHOLE) + 1, WHOLE)),
    ],
    ids=["a byte is missing", "the last part is missing", "a part is cut off"],
)
def test_a_body_that_is_cut_off_makes_nothing(
    rest: Rest, namespace: str, headers: dict[str, str], sent: bytes
) -> None:
    path = core(namespace, "configmaps")
    with connected(rest) as wire:
        wire.begin("POST", path, {**bearer(rest), **headers}, sent)
    # Later on another connection, and answered: what was cut off had its time.
    rest.post(path, config_map("later")).expect(201)
    rest.get(f"{path}/settings").expect(404)


@pytest.mark.parametrize("name", ["\x1f", "\r\nX-Own: header", "\x00", "é", "\u2028"])
def test_a_field_whose_name_no_header_can_hold_is_warned_of_all_the_same(
    rest: Rest, namespace: str, name: str
) -> None:
    answer = rest.post(core(namespace, "configmaps"), {**config_map(), name: 1})
    answer.expect(201)
    assert "X-Own" not in answer.headers


@pytest.mark.parametrize("length", ["-5", "5, 6", "many"])
def test_a_length_that_is_none_is_a_bad_request(rest: Rest, namespace: str, length: str) -> None:
    assert asked(rest, "POST", core(namespace, "configmaps"), b"", Content_Length=length).status == 400


@pytest.mark.parametrize("body", [b"", b"k8", b"\x0a\x05", b"k8s\x00" + b"\xff" * 50])
def test_protobuf_that_is_none_is_a_bad_request(rest: Rest, namespace: str, body: bytes) -> None:
    headers = {"Content-Type": PROTOBUF}
    assert rest.send("POST", core(namespace, "configmaps"), body, headers=headers).status in (400, 422)
