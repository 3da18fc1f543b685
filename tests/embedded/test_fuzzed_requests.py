"""Requests nobody would write: the server answers each with a `Status` below 500 and goes on serving."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kubernetes.rest import Rest

BUDGET = 600
FIXED = settings(
    max_examples=BUDGET,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
NAMES = st.one_of(
    st.sampled_from(["a", "A_b", "..", ".", "x" * 300, "%2e%2e", "%2f", "a%00b", "é", "-", "kube-system"]),
    st.text(max_size=20).map(lambda t: quote(t.encode("utf-8", "surrogatepass"), safe="")),
)
PLACES = st.sampled_from(
    ["api/v1/{}/pods", "api/v1/{}/configmaps", "api/v1/{}/secrets", "api/v1/{}/services",
     "apis/batch.paddlepaddle.org/v1/{}/paddlejobs", "apis/batch.paddlepaddle.org/v1alpha1/{}/samplesets",
     "apis/apps/v1/{}/deployments", "apis/rbac.authorization.k8s.io/v1/{}/roles", "api/v9/{}/pods",
     "apis/nothing.example/v1/{}/things", "api/v1/{}/nothing"]
)  # fmt: skip
# Mostly a namespace and names that exist: what is not found is answered before anything is looked at.
NAMESPACES = st.one_of(st.just("default"), st.just("default"), st.just("default"), NAMES)
ENDS = st.sampled_from(
    [
        "",
        "",
        "/a",
        "/a",
        "/b",
        "/a/status",
        "/a/log",
        "/a/scale",
        "/a/binding",
        "/a/token",
        "/a/x",
        "/a/status/x",
    ]
)
PATHS = st.builds(lambda p, n, e: f"/{p.format(f'namespaces/{n}')}{e}", PLACES, NAMESPACES, ENDS) | st.builds(
    lambda place, name: f"/{place.replace('/{}', '')}/{name}", PLACES, NAMES
)
QUERIES = st.dictionaries(
    st.sampled_from(
        ["labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "resourceVersionMatch",
         "dryRun", "fieldValidation", "fieldManager", "force", "gracePeriodSeconds", "propagationPolicy"]
    ),
    st.text(max_size=12) | st.sampled_from(["-1", "0", "a=b", "a in (b", "99999999999999999999", "Strict"]),
    max_size=4,
)  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SPEC_FIELDS = ("containers", "worker", "ports", "template", "volumes", "rules")
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.sampled_from(["v1", "batch.paddlepaddle.org/v1"]) | JSON,
        "kind": st.sampled_from(["ConfigMap", "Pod", "PaddleJob"]) | JSON,
        "metadata": st.fixed_dictionaries(
            {"name": st.sampled_from(["a", "b"]) | JSON}, optional={ "labels": JSON, "annotations": JSON,
                          "finalizers": JSON, "ownerReferences": JSON, "managedFields": JSON}
        ) | JSON,
        "spec": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(SPEC_FIELDS, JSON)
        ) | JSON,
        "status": JSON,
        "preconditions": JSON,
        "propagationPolicy": JSON,
        "gracePeriodSeconds": JSON,
        "data": JSON,
    },
)  # fmt: skip
BODIES = (
    OBJECTS.map(lambda o: json.dumps(o).encode())
    | JSON.map(lambda o: json.dumps(o).encode())
    | st.binary(max_size=60)
    | st.sampled_from([b"", b"{", b"[" * 5000, b'{"a":' * 800, b"NaN", b'"\xed\xa0\x80"', b"\xff\xfe"])
)
TYPES = st.sampled_from(
    ["application/json", "application/yaml", "application/merge-patch+json", "application/json-patch+json",
     "application/strategic-merge-patch+json", "application/apply-patch+yaml", "text/plain", "",
     "application/vnd.kubernetes.protobuf"]
)  # fmt: skip


@given(METHODS, PATHS, QUERIES, BODIES, TYPES)
@FIXED
def test_whatever_is_sent_gets_an_answer_below_500(
    rest: Rest, method: str, path: str, query: dict[str, str], body: bytes, content_type: str
) -> None:
    sent = {k: v.encode("utf-8", "replace") for k, v in query.items()}
    headers = {"Content-Type": content_type}
    answer = rest.send(method, path, body, query=sent, headers=headers)
    assert answer.status < 500, (method, path, query, body, content_type, answer.text)
    assert rest.get("/readyz").status == 200
