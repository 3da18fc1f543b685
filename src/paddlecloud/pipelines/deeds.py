"""A step that does something to an object of the cluster: makes, changes, reads or deletes it, and waits.

    python -m paddlecloud.pipelines.deeds ORDER

The order is JSON: action, manifest (YAML text) or kind and name, success and failure conditions, and the
outputs, each with the path in the object it is taken from. Making what is there already is done at once
only if it was made for the same run: a step that is started a second time finds its own work.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from collections.abc import Mapping
from typing import Any

import yaml

from ..api.core import PersistentVolumeClaim
from ..api.meta import Key, Metadata
from ..cluster import requests
from ..embedded.server.jsonpath import first as path_in
from ..errors import AlreadyExists, Failed, NotFound, PaddleCloudError, WrongUse
from ..sdk.client import Client
from ..sdk.connecting import connect
from ..sdk.discovery import Served, served
from ..sdk.discovery import find as find_kind
from .component import hand_over
from .requirements import Requirement, requirements

MADE_BY = "workflows.paddlepaddle.org/made-by-run"
PAUSE, PATIENCE = 1.0, 86400.0
Body = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    [text] = sys.argv[1:] if arguments is None else arguments
    try:
        with connect() as client:
            hand_over(do(client, json.loads(text)))
    except PaddleCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def do(client: Client, order: Body) -> dict[str, str]:
    action = order["action"]
    if action == "create-claim":
        return {"name": create_claim(client, order["inputs"])}
    if action == "delete-claim":
        delete(client, PersistentVolumeClaim.plural, order["inputs"]["pvc_name"])
        return {}
    if action == "delete" and "kind" in order:
        delete(client, order["kind"], order["name"])
        return {}
    body = manifest_of(order)
    kind = find_kind(served(client), kind_of(body))
    metadata = body.setdefault("metadata", {})
    key = Key(
        str(metadata.get("namespace") or namespace()) if kind.namespaced else "",
        str(metadata.get("name") or ""),
    )
    done = ACTIONS[action](client, kind, key, body, order)
    if action == "delete":
        return {}
    wanted = requirements(order.get("success") or ""), requirements(order.get("failure") or "")
    done = waited(client, kind, Key(key.namespace, done["metadata"]["name"]), done, wanted)
    return {name: taken(done, path) for name, path in order["outputs"].items()}


def namespace() -> str:
    return os.environ.get("POD_NAMESPACE") or "default"


def manifest_of(order: Body) -> Body:
    try:
        body = yaml.safe_load(order.get("manifest") or "")
    except yaml.YAMLError as error:
        raise WrongUse(f"the manifest is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(body, dict) or "kind" not in body:
        raise WrongUse("the manifest names no kind")
    return body


def kind_of(body: Body) -> str:
    group, slash, _ = str(body.get("apiVersion") or "").partition("/")
    return f"{body['kind']}.{group}" if slash else str(body["kind"])


def create(client: Client, kind: Served, key: Key, body: Body, _: Body) -> Body:
    run = os.environ.get("WORKFLOW_RUN", "")
    body["metadata"].setdefault("annotations", {})[MADE_BY] = run
    try:
        made = client.request(requests.creation(kind.place, key.namespace, body))
        print(f"created {kind.kind} {made['metadata']['name']}", flush=True)
        return made
    except AlreadyExists:
        there = client.request(requests.get(kind.place, key))
        if run and (there["metadata"].get("annotations") or {}).get(MADE_BY) == run:
            return there
        raise


def apply(client: Client, kind: Served, key: Key, body: Body, order: Body) -> Body:
    try:
        return create(client, kind, key, body, order)
    except AlreadyExists:
        return client.request(requests.patching(kind.place, key, body))


def patch(client: Client, kind: Served, key: Key, body: Body, order: Body) -> Body:
    return client.request(requests.patching(kind.place, key, body))


def replace(client: Client, kind: Served, key: Key, body: Body, _: Body) -> Body:
    return client.request(requests.replacement(kind.place, key, body))


def get(client: Client, kind: Served, key: Key, _: Body, __: Body) -> Body:
    return client.request(requests.get(kind.place, key))


def remove(client: Client, kind: Served, key: Key, _: Body, __: Body) -> Body:
    delete(client, f"{kind.plural}.{kind.group}" if kind.group else kind.plural, key.name)
    return {}


ACTIONS = {"create": create, "apply": apply, "patch": patch, "replace": replace, "get": get, "delete": remove}


def delete(client: Client, kind: str, name: str) -> None:
    """What is not there any more needs no deleting."""
    found = find_kind(served(client), kind)
    key = Key(namespace() if found.namespaced else "", name)
    try:
        client.request(requests.deletion(found.place, key))
        print(f"deleted {found.kind} {name}", flush=True)
    except NotFound:
        print(f"{found.kind} {name} is not there", flush=True)


def create_claim(client: Client, inputs: Mapping[str, Any]) -> str:
    """A claim as the task of kfp asks for it; the name of a started-again step is the same."""
    token = str(
        uuid.uuid5(uuid.NAMESPACE_OID, os.environ.get("POD_NAME", "") + os.environ.get("WORKFLOW_RUN", ""))
    )
    name = str(inputs.get("pvc_name") or f"{token}{inputs.get('pvc_name_suffix') or ''}")
    storage = inputs.get("storage_class_name")
    spec: Body = {
        "accessModes": list(inputs.get("access_modes") or ["ReadWriteOnce"]),
        "resources": {"requests": {"storage": str(inputs.get("size") or "1Gi")}},
        "storageClassName": "standard" if storage is None else str(storage),
    }
    if inputs.get("volume_name"):
        spec["volumeName"] = str(inputs["volume_name"])
    run = os.environ.get("WORKFLOW_RUN", "")
    notes = {str(k): str(v) for k, v in (inputs.get("annotations") or {}).items()}
    claim = PersistentVolumeClaim(
        metadata=Metadata(name=name, namespace=namespace(), annotations={**notes, MADE_BY: run}), spec=spec
    )
    try:
        client.create(claim)
    except AlreadyExists:
        there = client.get(PersistentVolumeClaim, namespace(), name)
        if there.metadata.annotations.get(MADE_BY) != run:
            raise
    print(f"created PersistentVolumeClaim {name}", flush=True)
    return name


def waited(
    client: Client, kind: Served, key: Key, body: Body, wanted: tuple[list[Requirement], list[Requirement]]
) -> Body:
    """The object once every success condition holds; one failure condition is enough to fail."""
    success, failure = wanted
    end = time.monotonic() + PATIENCE
    while success or failure:
        if broken := next((r for r in failure if r.holds(body)), None):
            raise Failed(f"{kind.kind} {key.name}: {broken} holds")
        if all(r.holds(body) for r in success):
            break
        if time.monotonic() > end:
            raise Failed(f"{kind.kind} {key.name}: {', '.join(map(str, success))} did not come to hold")
        time.sleep(PAUSE)
        body = client.request(requests.get(kind.place, key))
    return body


def taken(body: Body, path: str) -> str:
    """What lies under a path of kubectl's; what is not there is an empty text."""
    inner = path.strip().removeprefix("{").removesuffix("}")
    if not inner:
        # As kubectl prints it: who wrote which field is left out.
        body = {**body, "metadata": {k: v for k, v in body["metadata"].items() if k != "managedFields"}}
        return json.dumps(body, separators=(",", ":"))
    value = path_in(body, inner)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
