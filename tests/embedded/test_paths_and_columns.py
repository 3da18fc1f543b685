"""What a URL path means, and what the path of a printer column finds."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server.jsonpath import first
from paddlecloud.embedded.server.paths import Target, parse


@pytest.mark.parametrize(
    "path, target",
    [
        ("/api/v1/pods", Target("", "v1", "pods")),
        ("/api/v1/namespaces", Target("", "v1", "namespaces")),
        ("/api/v1/namespaces/ml", Target("", "v1", "namespaces", "", "ml")),
        ("/api/v1/namespaces/ml/status", Target("", "v1", "namespaces", "", "ml", "status")),
        ("/api/v1/namespaces/ml/finalize", Target("", "v1", "namespaces", "", "ml", "finalize")),
        ("/api/v1/namespaces/ml/pods", Target("", "v1", "pods", "ml")),
        ("/api/v1/namespaces/ml/pods/p", Target("", "v1", "pods", "ml", "p")),
        ("/api/v1/namespaces/ml/pods/p/log", Target("", "v1", "pods", "ml", "p", "log")),
        ("/api/v1/namespaces/ml/pods/p/proxy/a/b", Target("", "v1", "pods", "ml", "p", "proxy", "a/b")),
        ("/api/v1/nodes/n/status", Target("", "v1", "nodes", "", "n", "status")),
        ("/apis/apps/v1/statefulsets", Target("apps", "v1", "statefulsets")),
        ("/apis/apps/v1/namespaces/ml/statefulsets/s", Target("apps", "v1", "statefulsets", "ml", "s")),
        ("/apis/example.com/v1/namespaces/ml/status", Target("example.com", "v1", "status", "ml")),
        ("/apis/g/v1/namespaces/ml/things/s/scale", Target("g", "v1", "things", "ml", "s", "scale")),
    ],
)  # fmt: skip
def test_a_path_leads_to_a_collection_an_object_or_a_part_of_one(path: str, target: Target) -> None:
    assert parse(path) == target


@pytest.mark.parametrize(
    "path",
    [
        "/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/version", "/healthz",
        "/api/v1//pods", "/api/v1/../pods", "/api/v1/namespaces/../pods",
    ],
)  # fmt: skip
def test_other_paths_lead_to_no_resource(path: str) -> None:
    assert parse(path) is None


def test_the_version_of_a_target_is_written_as_in_a_manifest() -> None:
    assert Target("", "v1", "pods").api_version == "v1"
    assert Target("apps", "v1", "statefulsets").api_version == "apps/v1"


BODY: dict[str, Any] = {
    "metadata": {"labels": {"serving.knative.dev/service": "s"}, "annotations": {"a-b": "c"}},
    "spec": {"replicas": 0, "list": [{"name": "x", "v": 1}, {"name": "y", "v": 2}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
}


@pytest.mark.parametrize(
    "path, value",
    [
        (".spec.replicas", 0),
        (".spec.list[0].name", "x"),
        (".spec.list[-1].name", "y"),
        (".spec.list[*].v", 1),
        (".spec.list[7].name", None),
        (".spec.list[-1:].name", "y"),
        (".spec.list[1:].name", "y"),
        (".spec.list[:1].name", "x"),
        (".spec.list[:].name", "x"),
        (".spec.list[7:].name", None),
        (".spec.replicas[-1:]", None),
        ('.status.conditions[?(@.type=="Ready")].status', "True"),
        (".status.conditions[?(@.type=='Other')].status", "False"),
        ('.status.conditions[?(@.type=="No")].status', None),
        (r".metadata.labels.serving\.knative\.dev/service", "s"),
        (".metadata.annotations['a-b']", "c"),
        (".metadata.annotations.a-b", "c"),
        (".nothing.here", None),
        (".spec.replicas.deeper", None),
        (".spec[0]", None),
        ("", None),
        ("spec", None),
        (".spec[", None),
        (".spec.list[?(@.v>1)]", None),
    ],
)
def test_a_column_shows_the_first_value_at_its_path(path: str, value: Any) -> None:
    assert first(BODY, path) == value
