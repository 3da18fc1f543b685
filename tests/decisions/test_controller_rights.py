"""What the controllers may do on a cluster follows from what they declare, and is no more."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from paddlecloud.api.core import ConfigMap, Node, Pod
from paddlecloud.api.kinds import EMBEDDED_ONLY, OURS
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.cli import controllers as command
from paddlecloud.controllers.all import CONTROLLERS
from paddlecloud.controllers.contract import Controller, Decision
from paddlecloud.controllers.rights import LEASE, NAMESPACE, manifests, rules

JOBS = "batch.paddlepaddle.org"
READ = {"get", "list", "watch"}
OWN = {*READ, "create", "patch", "delete"}


def a_controller(**declared: object) -> Controller:
    return Controller("paddlejob", PaddleJob, lambda _, __: Decision(None), **declared)  # type: ignore[arg-type]


def granted(controller: Controller, group: str, resource: str) -> set[str]:
    found = [r for r in rules([controller]) if group in r["apiGroups"] and resource in r["resources"]]
    return {verb for r in found for verb in r["verbs"]}


@pytest.mark.parametrize(
    ("declared", "group", "resource", "verbs"),
    [
        ({}, JOBS, "paddlejobs", {*READ, "patch", "delete"}),
        ({}, JOBS, "paddlejobs/status", {"patch"}),
        ({}, JOBS, "paddlejobs/finalizers", {"update"}),
        ({}, "", "events", {"create", "get", "patch"}),
        ({"hears_warnings": True}, "", "events", {"create", "get", "patch", "list"}),
        ({}, "", "pods", set()),
        ({"owns": (Pod,)}, "", "pods", OWN),
        ({"owns": (Pod,)}, "", "pods/log", set()),
        ({"owns": (Pod,), "asks": lambda _, __: ()}, "", "pods/log", {"get"}),
        ({"patches": (Node,)}, "", "nodes", {*READ, "patch"}),
        ({"keeps_tokens": True}, "", "secrets", {"get", "create"}),
        ({"reads": (SampleSet,)}, JOBS, "samplesets", READ),
        ({"reads": (ConfigMap,), "owns": (ConfigMap,)}, "", "configmaps", OWN),
    ],
)  # fmt: skip
def test_a_controller_may_do_what_it_declares(
    declared: dict[str, object], group: str, resource: str, verbs: set[str]
) -> None:
    assert granted(a_controller(**declared), group, resource) == verbs


def test_no_controller_lists_secrets_makes_nodes_or_grants_rights() -> None:
    told = [r for r in rules(CONTROLLERS) for _ in r["resources"]]
    resources = {name for r in told for name in r["resources"]}

    assert "*" not in resources | {verb for r in told for verb in r["verbs"]}
    assert not {"pods/exec", "clusterroles", "rolebindings"} & resources
    assert [r["verbs"] for r in told if "secrets" in r["resources"]] == [["create", "get"]]
    assert [r["verbs"] for r in told if "nodes" in r["resources"]] == [["get", "list", "patch", "watch"]]


def test_the_lease_is_the_one_the_command_asks_for() -> None:
    lease = next(p for p in command.controllers.params if p.name == "lease_namespace")
    [role] = [body for body in manifests(CONTROLLERS) if body["kind"] == "Role"]

    assert (lease.default, command.LEASE) == (NAMESPACE, LEASE)
    assert role["rules"][1]["resourceNames"] == [LEASE]


def test_a_cluster_is_given_no_stand_ins_of_what_others_bring() -> None:
    """Volcano and Knative install their own kinds; ours of the same names would take their place."""
    folder = Path(__file__).parent.parent.parent / "deploy"
    files = [*(folder / "crds").glob("*.yaml"), *(folder / "v1").glob("*.yaml"), folder / "rbac.yaml"]
    bodies = [body for file in files for body in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    defined = {body["metadata"]["name"] for body in bodies if body["kind"] == "CustomResourceDefinition"}

    assert defined == {f"{kind.plural}.{kind.group()}" for kind in OURS}
    assert not defined & {f"{kind.plural}.{kind.group()}" for kind in EMBEDDED_ONLY}
    assert "paddlejobs.kubeflow.org" in defined and "podgroups.scheduling.volcano.sh" not in defined
