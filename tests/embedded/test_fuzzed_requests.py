"""Requests nobody would write: the server answers each with a `Status` below 500 and goes on serving.

Always the same requests: a failure shows the smallest one that fails, and the next run makes it again.
"""

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
     "apis/nothing.example/v1/{}/things", "api/v1/{}/nothing", "api/v1/{}/serviceaccounts",
     "apis/batch/v1/{}/jobs", "apis/networking.k8s.io/v1/{}/ingresses",
     "apis/admissionregistration.k8s.io/v1/{}/validatingadmissionpolicies", "readyz/{}", "openapi/v3/{}"]
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
SPEC_FIELDS = (
    "containers", "worker", "ports", "template", "volumes", "rules", "selector", "serviceAccountName",
    "automountServiceAccountToken", "initContainers", "validations", "matchConstraints",
)  # fmt: skip
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.sampled_from(["v1", "batch.paddlepaddle.org/v1"]) | JSON,
        "kind": st.sampled_from(["ConfigMap", "Pod", "PaddleJob"]) | JSON,
        "metadata": st.fixed_dictionaries(
            {"name": st.sampled_from(["a", "b"]) | JSON}, optional={ "labels": JSON, "annotations": JSON,
                          "finalizers": JSON, "ownerReferences": JSON, "managedFields": JSON,
                          "generation": JSON, "creationTimestamp": JSON, "uid": JSON, "resourceVersion": JSON,
                          "deletionTimestamp": JSON, "generateName": JSON, "namespace": JSON}
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


SEEN = settings(FIXED, max_examples=250)
SETTINGS = "/api/v1/namespaces/default/configmaps"
KEYS = st.sampled_from(["data", "metadata", "labels", "annotations", "a", "b", "-", "0", "1", "~1", ""])
POINTERS = st.lists(KEYS, max_size=4).map(lambda parts: "".join(f"/{p}" for p in parts))
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"]), "path": POINTERS},
        optional={"from": POINTERS, "value": JSON},
    ),
    max_size=6,
)
DIRECTIVES = st.dictionaries(
    st.sampled_from(["$patch", "$retainKeys", "$setElementOrder/ports", "$deleteFromPrimitiveList/a"]),
    st.sampled_from(["delete", "replace", "merge"]) | JSON,
    max_size=2,
)
MERGES = st.builds(lambda o, d: {**o, **d}, OBJECTS, DIRECTIVES)
PATCHES = (
    st.tuples(st.just("application/json-patch+json"), OPERATIONS | JSON)
    | st.tuples(st.just("application/merge-patch+json"), MERGES | JSON)
    | st.tuples(st.just("application/strategic-merge-patch+json"), MERGES | JSON)
    | st.tuples(st.just("application/apply-patch+yaml"), OBJECTS | JSON)
)
PATCHED = st.sampled_from(
    [SETTINGS, "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/services",
     "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs"]
)  # fmt: skip


@given(PATCHED, PATCHES, st.sampled_from(["", "/status", "/scale"]), st.booleans())
@SEEN
def test_whatever_is_patched_gets_an_answer_below_500(
    rest: Rest, path: str, patch: tuple[str, Any], door: str, force: bool
) -> None:
    rest.post(SETTINGS, {"metadata": {"name": "a"}, "data": {"a": "b"}})
    content_type, body = patch
    query = {"fieldManager": "fuzz", "force": "true"} if force and "apply" in content_type else {}
    query = query or ({"fieldManager": "fuzz"} if "apply" in content_type else {})
    answer = rest.send(
        "PATCH", f"{path}/a{door}", json.dumps(body), query=query, headers={"Content-Type": content_type}
    )
    # The one fault of a patch that Kubernetes itself answers so: a contract has its words.
    unknown = answer.status == 500 and "unknown patch type: " in answer.text
    assert answer.status < 500 or unknown, (path, door, patch, answer.text)


JSON_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])
RULES = st.fixed_dictionaries({"rule": st.sampled_from(["self == 1", "self.", "has(self.a)"]) | JSON})
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries(
        {"type": JSON_TYPES | JSON},
        optional={
            "default": JSON, "enum": JSON, "pattern": st.sampled_from(["^a", "(", "(a+)+$"]) | JSON,
            "minimum": JSON, "maxLength": JSON, "nullable": JSON, "format": st.text(max_size=6) | JSON,
            "x-kubernetes-preserve-unknown-fields": JSON, "x-kubernetes-int-or-string": JSON,
            "x-kubernetes-validations": st.lists(RULES, max_size=2),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=3),
            "additionalProperties": inner | st.booleans(), "required": JSON, "allOf": JSON, "not": JSON,
        },
    )
    | st.fixed_dictionaries(
        {"type": st.just("array")}, optional={"items": inner, "x-kubernetes-list-type": JSON}
    ),
    max_leaves=6,
)  # fmt: skip


@given(SCHEMAS, JSON)
@settings(SEEN, max_examples=80)
def test_whatever_defines_a_kind_gets_an_answer_below_500(rest: Rest, schema: Any, spec: Any) -> None:
    whole = {"type": "object", "properties": {"spec": schema}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
    names = {"plural": "fuzzes", "singular": "fuzz", "kind": "Fuzz"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "fuzzes.fuzz.example"},
        "spec": {"group": "fuzz.example", "scope": "Cluster", "names": names, "versions": [version]},
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    answer = rest.post(path, definition)
    assert answer.status < 500, (schema, answer.text)
    if answer.status == 201:
        body = {"apiVersion": "fuzz.example/v1", "kind": "Fuzz", "metadata": {"name": "a"}, "spec": spec}
        made = rest.post("/apis/fuzz.example/v1/fuzzes", body)
        assert made.status < 500, (schema, spec, made.text)
        rest.delete(f"{path}/fuzzes.fuzz.example")


SELECTORS = st.lists(
    st.sampled_from(["a", "b", "=", "==", "!=", "!", " in ", " notin ", "(", ")", ",", ">", "<", " ",
                     "\\", "é", "metadata.name", "spec.nodeName", "x/y", "\x00", "a" * 70]),
    max_size=8,
).map("".join)  # fmt: skip


@given(st.sampled_from(["pods", "configmaps", "events", "secrets"]), SELECTORS, SELECTORS, st.booleans())
@SEEN
def test_whatever_is_selected_by_gets_an_answer_below_500(
    rest: Rest, plural: str, labels: str, fields: str, watch: bool
) -> None:
    query = {"labelSelector": labels, "fieldSelector": fields}
    if watch:
        # Its time is over before it begins.
        query |= {"watch": "1", "timeoutSeconds": "-1"}
    answer = rest.get(f"/api/v1/namespaces/default/{plural}", **query)
    assert answer.status in (200, 400), (plural, labels, fields, answer.text)


@given(METHODS, PATHS, QUERIES, BODIES, TYPES)
@FIXED
def test_whatever_is_sent_gets_an_answer_below_500(
    rest: Rest, method: str, path: str, query: dict[str, str], body: bytes, content_type: str
) -> None:
    sent = {k: v.encode("utf-8", "replace") for k, v in query.items()}
    headers = {"Content-Type": content_type}
    answer = rest.send(method, path, body, query=sent, headers=headers)
    assert answer.status < 500, (method, path, query, body, content_type, answer.text)
    # Alive, not ready: a disk that stands still for two seconds makes the latter untrue for a moment.
    assert rest.get("/livez").status == 200
