"""kubectl that keeps files and objects alike: apply and its switches, kustomize, edit, validation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.objects import config_map, paddle_job, pod
from tests.kubectl import Kubectl

pytestmark = pytest.mark.kubectl
NOTE = "kubectl.kubernetes.io/last-applied-configuration"


def written(folder: Path, *objects: dict[str, Any]) -> str:
    folder.mkdir(exist_ok=True)
    for body in objects:
        (folder / f"{body['metadata']['name']}.yaml").write_text(yaml.safe_dump(body))
    return str(folder)


def names(kubectl: Kubectl, *words: str) -> list[str]:
    found = kubectl("get", "cm", "-o", "name", *words).split()
    return [line.removeprefix("configmap/") for line in found if "kube-root-ca" not in line]


def test_apply_prunes_what_is_no_longer_in_the_folder(kubectl: Kubectl, tmp_path: Path) -> None:
    folder = written(tmp_path / "both", config_map("a", {"set": "one"}), config_map("b", {"set": "one"}))
    one = written(tmp_path / "one", config_map("a", {"set": "one"}))
    kubectl("create", "-f", "-", stdin=config_map("other", {"set": "one"}))
    prune = ("--prune", "-l", "set=one", "--prune-allowlist=core/v1/ConfigMap")
    kubectl("apply", "-f", folder, *prune)
    said = kubectl("apply", "-f", one, *prune, "--dry-run=server").splitlines()
    assert said[1:] == ["configmap/b pruned (server dry run)"] and names(kubectl) == ["a", "b", "other"]
    assert kubectl("apply", "-f", one, *prune).splitlines()[1:] == ["configmap/b pruned"]
    # What nobody applied is nobody's to prune.
    assert names(kubectl) == ["a", "other"]


def test_an_apply_set_knows_its_members(kubectl: Kubectl, tmp_path: Path) -> None:
    both = written(tmp_path / "both", config_map("a"), config_map("b"))
    one = written(tmp_path / "one", config_map("b"))
    words, gate = ("apply", "--prune", "--applyset=mine"), {"KUBECTL_APPLYSET": "true"}
    assert kubectl.run(*words, "-f", both, environ=gate).returncode == 0
    done = kubectl.run(*words, "-f", one, environ=gate)
    assert (done.returncode, "configmap/a pruned" in done.stdout) == (0, True), done.stderr
    assert names(kubectl) == ["b"]


def test_a_kustomization(kubectl: Kubectl, tmp_path: Path) -> None:
    folder = written(tmp_path / "k", pod("x"))
    kustomization = {
        "namePrefix": "big-",
        "resources": ["x.yaml"],
        "configMapGenerator": [{"name": "settings", "literals": ["a=1"]}],
    }
    Path(folder, "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    first, second = kubectl("apply", "-k", folder).splitlines()
    assert first.startswith("configmap/big-settings-") and second == "pod/big-x created"
    assert kubectl.run("diff", "-k", folder).returncode == 0
    assert kubectl("get", "-k", folder, "-o", "name").split()[1] == "pod/big-x"
    assert "big-x" in kubectl("kustomize", folder)
    assert kubectl("delete", "-k", folder, "--wait=false").count(" deleted") == 2


def test_the_last_applied_configuration_is_shown_set_and_edited(kubectl: Kubectl, tmp_path: Path) -> None:
    file = f"{written(tmp_path / 'f', config_map('x', k='1'))}/x.yaml"
    kubectl("apply", "-f", file)
    assert yaml.safe_load(kubectl("apply", "view-last-applied", "cm/x"))["data"] == {"k": "1"}
    Path(file).write_text(yaml.safe_dump(config_map("x", k="2")))
    kubectl("apply", "set-last-applied", "-f", file)
    assert yaml.safe_load(kubectl("apply", "view-last-applied", "cm/x"))["data"] == {"k": "2"}
    assert kubectl.json("get", "cm", "x")["data"] == {"k": "1"}


def misspelt() -> dict[str, Any]:
    return paddle_job(worker=paddle_job()["spec"]["worker"], cleanPodPolicies="Never")


@pytest.mark.parametrize("verb", [("create",), ("apply",), ("apply", "--server-side")])
def test_an_unknown_field_is_refused_by_default(kubectl: Kubectl, verb: tuple[str, ...]) -> None:
    done = kubectl.run(*verb, "-f", "-", stdin=misspelt())
    assert (done.returncode, "cleanPodPolicies" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("way, warned", [("warn", True), ("ignore", False)])
@pytest.mark.parametrize("verb", ["create", "apply"])
def test_an_unknown_field_is_told_or_passed_over(kubectl: Kubectl, verb: str, way: str, warned: bool) -> None:
    done = kubectl.run(verb, f"--validate={way}", "-f", "-", stdin=misspelt())
    assert done.returncode == 0, done.stderr
    assert ('unknown field "spec.cleanPodPolicies"' in done.stderr) == warned
    assert "cleanPodPolicies" not in kubectl.json("get", "pdj", "train")["spec"]


@pytest.mark.parametrize(
    "body, sentence",
    [
        (config_map("UPPER"), 'metadata.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain must'),
        (
            {**config_map("x"), "data": {"a": 1}},
            "cannot unmarshal number into Go struct field ConfigMap.data",
        ),
        ({**config_map("x"), "data": {"a b": ""}}, 'data[a b]: Invalid value: "a b"'),
    ],
)
def test_a_value_that_cannot_be_is_refused(kubectl: Kubectl, body: dict[str, Any], sentence: str) -> None:
    done = kubectl.run("create", "-f", "-", stdin=body)
    assert (done.returncode, sentence in done.stderr) == (1, True), done.stderr


def test_a_generated_name_is_created_and_never_applied(kubectl: Kubectl) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "some-"}}
    assert kubectl("create", "-f", "-", "-o", "name", stdin=body).startswith("configmap/some-")
    assert "cannot use generate name with apply" in kubectl.run("apply", "-f", "-", stdin=body).stderr


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"EDITOR": str(path)}


@pytest.mark.parametrize(
    "script, code, words",
    [
        ("true", 0, "Edit cancelled, no changes made."),
        ("sed -i 's/k: one/k: two/' \"$1\"", 0, "configmap/x edited"),
        ("sed -i 's/name: x/name: z/' \"$1\"", 1, "At least one of apiVersion, kind and name was changed"),
    ],
)
def test_edit(kubectl: Kubectl, tmp_path: Path, script: str, code: int, words: str) -> None:
    kubectl("create", "-f", "-", stdin=config_map("x", k="one"))
    environ = {**editor(tmp_path, script), "TMPDIR": str(tmp_path)}
    done = kubectl.run("edit", "cm", "x", environ=environ)
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True), done.stderr


def test_the_status_is_edited_through_its_own_door(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=pod("x"))
    environ = editor(tmp_path, "sed -i 's/phase: Pending/phase: Failed/' \"$1\"")
    done = kubectl.run("edit", "pod", "x", "--subresource=status", environ=environ)
    assert done.returncode == 0, done.stderr
    assert kubectl("get", "pod", "x", "-o", "jsonpath={.status.phase}") == "Failed"


def test_patches_go_through_the_door_they_name(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    words = ("patch", "pdj", "train", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
    assert "no change" in kubectl(*words)
    assert kubectl(*words, "--subresource=status").endswith("/train patched\n")
    assert kubectl("get", "pdj", "train", "-o", "jsonpath={.status.phase}") == "Running"
    kubectl("create", "deployment", "web", "--image=example/web", "--replicas=0")
    patch = ("--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":1}}')
    kubectl("patch", "deployment", "web", *patch)
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "1"


def test_many_are_labelled_at_once(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=yaml.safe_dump_all([pod("a"), pod("b")]))
    assert kubectl("label", "pods", "--all", "x=1").splitlines() == ["pod/a labeled", "pod/b labeled"]
    kubectl("label", "pods", "-l", "x=1", "x=2", "--overwrite")
    assert kubectl("label", "pod", "a", "--list").split() == ["x=2"]
    kubectl("annotate", "pods", "--all", "note=hello")
    assert kubectl("annotate", "pod", "a", "--list").split() == ["note=hello"]
    done = kubectl.run("annotate", "pod", "a", "note=two", "--overwrite", "--resource-version=1")
    assert (done.returncode, "(Conflict)" in done.stderr) == (1, True)
    assert kubectl.run("label", "pod", "a", "x=not good!").returncode == 1
