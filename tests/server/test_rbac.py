"""What roles and bindings grant, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server.authorization import parsed_role
from paddlecloud.embedded.server.rbac import Attributes, Grants, rule_of

GET_PODS = Attributes("get", "", "pods", "", "ml", "x")
EVERYBODY = ("system:authenticated",)


def rule(**given: Any) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], **given}


def bound(kind: str, name: str, *subjects: dict[str, str], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": f"{name}-binding"} | ({"namespace": namespace} if namespace else {})
    return {"metadata": metadata, "roleRef": {"kind": kind, "name": name}, "subjects": list(subjects)}


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name}


def grants(*bindings: dict[str, Any], rules: list[dict[str, Any]] | None = None) -> Grants:
    """A role and a cluster role, both called `reader`."""
    parsed = parsed_role({"rules": [rule()] if rules is None else rules})
    return Grants({("ml", "reader"): parsed, ("", "reader"): parsed}, bindings)


@pytest.mark.parametrize(
    "binding, namespace, allowed",
    [
        (bound("Role", "reader", user("alice"), namespace="ml"), "ml", True),
        (bound("Role", "reader", user("bob"), namespace="ml"), "ml", False),
        (bound("ClusterRole", "reader", user("alice"), namespace="ml"), "ml", True),
        (bound("ClusterRole", "reader", user("alice"), namespace="ml"), "other", False),
        (bound("ClusterRole", "reader", user("alice"), namespace="ml"), "", False),
        (bound("ClusterRole", "reader", user("alice")), "ml", True),
        (bound("ClusterRole", "reader", user("alice")), "", True),
        (bound("Role", "reader", user("alice"), namespace="other"), "other", False),  # the role is in ml
        (bound("ClusterRole", "reader", {"kind": "Group", "name": EVERYBODY[0]}), "ml", True),
        (bound("ClusterRole", "reader", {"kind": "Group", "name": "alice"}), "ml", False),
        (bound("ClusterRole", "reader", {"kind": "User", "name": EVERYBODY[0]}), "ml", False),
        (bound("ClusterRole", "reader"), "ml", False),
    ],
)
def test_a_binding_acts_where_it_is_on_whom_it_names(
    binding: dict[str, Any], namespace: str, allowed: bool
) -> None:
    scope = grants(binding).scope("alice", EVERYBODY, namespace)
    assert scope.allows(GET_PODS._replace(namespace=namespace)) is allowed


@pytest.mark.parametrize("namespace, account", [("ml", {}), ("ml", {"namespace": "ml"})])
def test_an_account_is_a_user_with_a_long_name(namespace: str, account: dict[str, str]) -> None:
    subject = {"kind": "ServiceAccount", "name": "robot", **account}
    scope = grants(bound("Role", "reader", subject, namespace=namespace)).scope(
        "system:serviceaccount:ml:robot", (), "ml"
    )
    assert scope.allows(GET_PODS)


@pytest.mark.parametrize(
    "given, path, allowed",
    [
        ("/metrics", "/metrics", True),
        ("/metrics", "/metrics/slis", False),
        ("/metrics/*", "/metrics/slis", True),
        ("/metrics/*", "/metrics", False),
        ("*", "/anything", True),
        ("/me*", "/metrics", True),
    ],
)
def test_how_paths_are_read(given: str, path: str, allowed: bool) -> None:
    rules = [{"nonResourceURLs": [given], "verbs": ["get"]}]
    scope = grants(bound("ClusterRole", "reader", user("alice")), rules=rules).scope("alice", (), "")
    assert scope.allows(Attributes("get", path=path)) is allowed
    assert not scope.allows(Attributes("post", path=path))


def test_names_of_several_rules_add_up() -> None:
    rules = [rule(resourceNames=["a"]), rule(resourceNames=["b", "c"])]
    scope = grants(bound("ClusterRole", "reader", user("alice")), rules=rules).scope("alice", (), "ml")
    found = [name for name in ("", "a", "b", "c", "d") if scope.allows(GET_PODS._replace(name=name))]
    assert found == ["a", "b", "c"]


def test_one_rule_without_names_is_enough() -> None:
    rules = [rule(resourceNames=["a"]), rule()]
    scope = grants(bound("ClusterRole", "reader", user("alice")), rules=rules).scope("alice", (), "ml")
    assert scope.allows(GET_PODS._replace(name="z"))


def test_the_reason_names_the_binding_and_the_account() -> None:
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": "ml"}
    scope = grants(bound("Role", "reader", subject, namespace="ml")).scope(
        "system:serviceaccount:ml:robot", (), "ml"
    )
    assert scope.reason(GET_PODS) == (
        'RBAC: allowed by RoleBinding "reader-binding/ml" of Role "reader" to ServiceAccount "robot/ml"'
    )


def test_roles_that_are_missing_are_the_reason_for_a_refusal() -> None:
    bindings = [bound("Role", name, user("alice"), namespace="ml") for name in ("one", "two")]
    scope = grants(*bindings).scope("alice", (), "ml")
    assert not scope.allows(GET_PODS)
    missing = [f'role.rbac.authorization.k8s.io "{name}" not found' for name in ("one", "two")]
    assert scope.reason(GET_PODS) == f"RBAC: [{', '.join(missing)}]"


@pytest.mark.parametrize(
    "resources, resource, covered",
    [
        (["pods"], "pods", True),
        (["pods"], "pods/log", False),
        (["pods/log"], "pods/log", True),
        (["*"], "pods/log", True),
        (["*/log"], "pods/log", True),
        (["*/log"], "pods", False),
        (["pods/*"], "pods/log", False),
    ],
)
def test_how_resources_are_read(resources: list[str], resource: str, covered: bool) -> None:
    assert rule_of(rule(resources=resources)).covers("get", "", resource) is covered


def test_many_identities_do_not_fill_the_memory() -> None:
    index = grants(bound("ClusterRole", "reader", {"kind": "Group", "name": EVERYBODY[0]}))
    for number in range(5000):
        assert index.scope(f"user-{number}", EVERYBODY, "ml").allows(GET_PODS)
    assert len(index._scopes) <= 4096
