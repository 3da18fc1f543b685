"""What a server makes of the least a client may write: every default, field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.built_ins import MANIFESTS
from tests.kubernetes.rest import Rest

WANTED: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "defaulted.yaml").read_text())
NAME = "contract-x"
# Set by plug-ins whose other half is a controller that takes them away again.
ADMITTED = {
    "claim": ("metadata", "finalizers"),
    "volume": ("metadata", "finalizers"),
    "node": ("spec", "taints"),
}


def settled(key: str, body: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The body without what differs from run to run."""
    uid = body["metadata"]["uid"]
    for field in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        body["metadata"].pop(field, None)
    if key == "service":
        body["spec"].pop("clusterIP", None)
        body["spec"].pop("clusterIPs", None)
    if key in ("quota", "volume"):
        # Found out by controllers, sooner or later.
        body.pop("status")
    if key in ADMITTED:
        part, field = ADMITTED[key]
        body[part].pop(field, None)
    made: dict[str, Any] = json.loads(json.dumps(body).replace(uid, "UID").replace(namespace, "NAMESPACE"))
    return made


@pytest.mark.parametrize("key", MANIFESTS)
def test_a_new_object_gets_its_defaults(rest: Rest, namespace: str, key: str) -> None:
    manifest = MANIFESTS[key]
    body = {"metadata": {"name": NAME}, **manifest.body}
    if key == "event":
        body["involvedObject"] = {**body["involvedObject"], "namespace": namespace}
    made = rest.post(manifest.path(namespace), body).expect(201)
    if not manifest.namespaced:
        rest.delete(f"{manifest.path(namespace)}/{NAME}")
    wanted = json.loads(json.dumps(WANTED[key]))
    wanted["metadata"]["uid"] = "UID"
    assert settled(key, made, namespace) == settled(key, wanted, "NAMESPACE")
