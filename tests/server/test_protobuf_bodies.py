"""Bodies in protobuf become the JSON that was meant."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from paddlecloud.embedded.server import protobuf
from paddlecloud.errors import BadRequest, UnsupportedMedia


def message(name: str, **fields: Any) -> Any:
    return protobuf.message_class(f"k8s.io.{name}")(**fields)


def envelope(api_version: str, kind: str, inside: Any) -> bytes:
    made = message(
        "apimachinery.pkg.runtime.Unknown",
        typeMeta={"apiVersion": api_version, "kind": kind},
        raw=inside.SerializeToString(),
    )
    return protobuf.MAGIC + bytes(made.SerializeToString())


def test_a_config_map() -> None:
    inside = message(
        "api.core.v1.ConfigMap", metadata={"name": "x"}, data={"a": "1"}, binaryData={"b": b"\xff"}
    )
    assert protobuf.decoded(envelope("v1", "ConfigMap", inside)) == {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"},
        "binaryData": {"b": "/w=="},
    }  # fmt: skip


def test_zeros_count_where_go_keeps_a_pointer() -> None:
    template = {"spec": {"containers": [{"name": "c", "stdin": False, "livenessProbe": {
        "handler": {"httpGet": {"port": {"type": 1, "strVal": "http"}}},
        "timeoutSeconds": 5, "periodSeconds": 0, "terminationGracePeriodSeconds": 0}}]}}  # fmt: skip
    inside = message("api.apps.v1.Deployment", spec={"replicas": 0, "paused": False, "template": template})
    spec = protobuf.decoded(envelope("apps/v1", "Deployment", inside))["spec"]
    assert spec["replicas"] == 0 and "paused" not in spec
    [container] = spec["template"]["spec"]["containers"]
    assert container == {
        "name": "c",
        "livenessProbe": {
            "httpGet": {"port": "http"},
            "timeoutSeconds": 5,
            "terminationGracePeriodSeconds": 0,
        },
    }


def test_amounts_times_and_names_of_their_own() -> None:
    inside = message(
        "api.core.v1.Pod",
        metadata={"creationTimestamp": {}, "deletionTimestamp": {"seconds": 1_700_000_000}},
        spec={
            "containers": [{"name": "c", "resources": {"limits": {"cpu": {"string": "500m"}}}}],
            "volumes": [{"name": "v", "volumeSource": {"emptyDir": {}}}],
        },
    )
    body = protobuf.decoded(envelope("v1", "Pod", inside))
    assert body["metadata"] == {"deletionTimestamp": "2023-11-14T22:13:20Z"}
    assert body["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m"}}
    assert body["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_options_of_a_deletion_in_any_group() -> None:
    inside = message(
        "apimachinery.pkg.apis.meta.v1.DeleteOptions", gracePeriodSeconds=0, propagationPolicy="Foreground"
    )
    for api_version in ("v1", "apps/v1", "meta.k8s.io/v1"):
        body = protobuf.decoded(envelope(api_version, "DeleteOptions", inside))
        assert (body["gracePeriodSeconds"], body["propagationPolicy"]) == (0, "Foreground")


def test_the_schema_of_a_custom_kind() -> None:
    inner = {"type": "array", "items": {"schema": {"type": "string"}}}
    schema = {"type": "object", "properties": {"a": inner},
              "default": {"raw": b'{"a":[]}'}, "additionalProperties": {"allows": True}}  # fmt: skip
    inside = message(
        "apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        spec={
            "group": "g",
            "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )
    body = protobuf.decoded(envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", inside))
    assert body["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}}},
        "default": {"a": []},
        "additionalProperties": True,
    }


@pytest.mark.parametrize("body", [b"", b"{}", b"k8s\x00\xff\xff\xff", b"k8s\x01"])
def test_what_is_no_protobuf_is_refused(body: bytes) -> None:
    with pytest.raises((BadRequest, UnsupportedMedia)):
        protobuf.decoded(body)


def test_a_kind_nobody_knows_is_refused() -> None:
    with pytest.raises(UnsupportedMedia, match="Kind=Widget"):
        protobuf.decoded(envelope("v1", "Widget", message("api.core.v1.Pod")))


def test_the_library_is_loaded_with_the_first_body_only() -> None:
    program = (
        "import sys; from paddlecloud.embedded.server import app;"
        "sys.exit(any(m.startswith('google.protobuf') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
