"""kubectl on every kind: written from a file, shown in every form, described, labelled, applied, deleted."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from tests.clients.kubectl_kinds import OURS, Written, of_built_in
from tests.contracts.built_ins import MANIFESTS
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.kubectl
# A namespace takes its time to go, and an event of a test may not lie in it.
ELSEWHERE = ("namespace", "event")
NAME = "{.metadata.name}"


def walk(kubectl: Kubectl, written: Written) -> None:
    resource, name = written.resource, written.body["metadata"]["name"]
    assert kubectl("create", "-f", "-", stdin=written.body).endswith(f"/{name} created\n")
    try:
        header, row = kubectl("get", resource, name).splitlines()
        assert header.split()[0] == "NAME" and row.split()[0] == name
        assert name in kubectl("describe", resource, name)
        assert kubectl("label", resource, name, "team=vision").endswith(f"/{name} labeled\n")
        found = kubectl("get", resource, "-l", "team=vision", "-A", "-o", "name").splitlines()
        assert [line.rpartition("/")[2] for line in found] == [name]
    finally:
        said = kubectl("delete", resource, name, "--wait=false")
    assert f'"{name}" deleted' in said


@pytest.mark.parametrize("key", OURS)
def test_a_kind_of_ours(kubectl: Kubectl, key: str) -> None:
    walk(kubectl, OURS[key])


@pytest.mark.parametrize("key", [key for key in MANIFESTS if key not in ELSEWHERE])
def test_a_built_in_kind(kubectl: Kubectl, rest: Rest, key: str) -> None:
    walk(kubectl, of_built_in(key, rest, kubectl.namespace))


@pytest.mark.parametrize("key", OURS)
def test_every_form_tells_of_the_same_object(kubectl: Kubectl, key: str) -> None:
    resource, body = OURS[key]
    kubectl("create", "-f", "-", stdin=body)

    def get(form: str) -> str:
        return kubectl("get", resource, "x", "-o", form)

    shown: Any = json.loads(get("json"))
    assert yaml.safe_load(get("yaml")) == shown
    assert shown["kind"] == body["kind"] and body["spec"].items() <= shown["spec"].items()
    assert get("name").strip().endswith("/x")
    assert get("wide").splitlines()[1].split()[0] == "x"
    assert get(f"jsonpath={NAME}") == "x"
    assert json.loads(get("jsonpath-as-json={.metadata.name}")) == ["x"]
    assert get("go-template={{.metadata.name}}") == "x"
    assert get("custom-columns=N:.metadata.name,K:.kind,X:.nope").split() == [
        "N", "K", "X", "x", body["kind"], "<none>",
    ]  # fmt: skip


@pytest.mark.parametrize("key", OURS)
def test_ours_are_applied_compared_replaced_and_patched(kubectl: Kubectl, key: str) -> None:
    resource, body = OURS[key]
    noted = {**body, "metadata": {"name": "x", "annotations": {"note": "two"}}}
    assert kubectl("apply", "-f", "-", stdin=body).endswith("/x created\n")
    assert kubectl("apply", "-f", "-", stdin=body).endswith("/x unchanged\n")
    assert kubectl.run("diff", "-f", "-", stdin=body).returncode == 0
    done = kubectl.run("diff", "-f", "-", stdin=noted)
    assert (done.returncode, "+    note: two\n" in done.stdout) == (1, True), done.stderr
    assert kubectl("apply", "--server-side", "-f", "-", stdin=noted).endswith("/x serverside-applied\n")
    now = kubectl.json("get", resource, "x")
    assert now["metadata"]["annotations"]["note"] == "two"
    assert kubectl("replace", "-f", "-", stdin=now).endswith("/x replaced\n")
    patch = '{"metadata":{"annotations":{"note":null}}}'
    assert kubectl("patch", resource, "x", "--type=merge", "-p", patch).endswith("/x patched\n")
    assert "note" not in kubectl.json("get", resource, "x")["metadata"]["annotations"]


@pytest.mark.parametrize("key", OURS)
def test_explain_knows_every_field_of_ours(kubectl: Kubectl, key: str) -> None:
    body = OURS[key].body
    words = (
        "explain",
        OURS[key].resource.partition(".")[0],
        f"--api-version={body['apiVersion']}",
        "--recursive",
    )
    text = kubectl(*words)
    group, _, version = body["apiVersion"].partition("/")
    assert text.startswith(f"GROUP:      {group}\nKIND:       {body['kind']}\nVERSION:    {version}\n")
    assert all(f"\n    {field}\t<" in text for field in body["spec"]), text
