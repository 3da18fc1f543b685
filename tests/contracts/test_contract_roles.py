"""Roles and bindings as objects: what they may look like, who may write them, roles made of roles."""

# The sentences of Kubernetes are not broken.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.granting import (
    CLUSTER_BINDINGS,
    CLUSTER_ROLES,
    GROUP,
    READ_PODS,
    acting_as,
    allowed,
    binding,
    bindings,
    grant,
    role,
    roles,
    somebody,
)
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

GET_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
WRITE_ROLES = {
    "apiGroups": [GROUP],
    "resources": ["roles", "rolebindings"],
    "verbs": ["create", "get", "update", "patch"],
}


@pytest.mark.parametrize(
    "rule, problems",
    [
        ({"apiGroups": [""], "resources": ["pods"]}, ["rules[0].verbs: Required value: verbs must contain at least one value"]),
        ({"resources": ["pods"], "verbs": ["get"]}, ["rules[0].apiGroups: Required value: resource rules must supply at least one api group"]),
        ({"apiGroups": [""], "verbs": ["get"]}, ["rules[0].resources: Required value: resource rules must supply at least one resource"]),
        ({"nonResourceURLs": ["/x"], "verbs": ["get"]}, ['rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs']),
        ({"verbs": ["get"]}, [
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
        ]),
    ],
)  # fmt: skip
def test_a_rule_that_says_nothing_is_refused(
    rest: Rest, namespace: str, rule: dict[str, Any], problems: list[str]
) -> None:
    answer = rest.post(roles(namespace), role("a", rule)).expect(422)
    what = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    assert answer["message"] == f'Role.{GROUP} "a" is invalid: {what}'
    assert [c["field"] for c in answer["details"]["causes"]] == [p.split(":")[0] for p in problems]


@pytest.mark.parametrize(
    "body, problem",
    [
        ({"rules": [GET_PODS | {"nonResourceURLs": ["/x"]}]}, 'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs'),
        ({"aggregationRule": {"clusterRoleSelectors": []}}, "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"),
    ],
)  # fmt: skip
def test_a_cluster_role_that_makes_no_sense_is_refused(
    rest: Rest, body: dict[str, Any], problem: str
) -> None:
    answer = rest.post(CLUSTER_ROLES, {"metadata": {"name": "a"}, **body}).expect(422)
    assert answer["message"] == f'ClusterRole.{GROUP} "a" is invalid: {problem}'


@pytest.mark.parametrize("name", ["with:colon", "Upper", "under_score"])
def test_the_name_of_a_role_is_free(rest: Rest, namespace: str, name: str) -> None:
    made = rest.post(roles(namespace), {"metadata": {"name": name}}).expect(201)
    assert made["rules"] is None
    assert rest.get(roles(namespace, name)).expect(200) == made
    assert rest.get(roles(namespace, name.replace(":", "%3A"))).status == 200


@pytest.mark.parametrize("name, problem", [("a/b", "may not contain '/'"), ("..", "may not be '..'")])
def test_the_name_of_a_role_is_a_part_of_a_path(rest: Rest, namespace: str, name: str, problem: str) -> None:
    answer = rest.post(roles(namespace), {"metadata": {"name": name}}).expect(422)
    assert answer["message"] == (
        f'Role.{GROUP} "{name}" is invalid: metadata.name: Invalid value: "{name}": {problem}'
    )


@pytest.mark.parametrize(
    "reference, problem",
    [
        ({"apiGroup": GROUP, "kind": "Role"}, "roleRef.name: Required value"),
        ({"apiGroup": GROUP, "kind": "Other", "name": "x"}, 'roleRef.kind: Unsupported value: "Other": supported values: "Role", "ClusterRole"'),
        ({"apiGroup": "x", "kind": "Role", "name": "x"}, f'roleRef.apiGroup: Unsupported value: "x": supported values: "{GROUP}"'),
        ({}, '[roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole", roleRef.name: Required value]'),
    ],
)  # fmt: skip
def test_a_binding_refers_to_a_role(
    rest: Rest, namespace: str, reference: dict[str, str], problem: str
) -> None:
    body = {"metadata": {"name": "b"}, "roleRef": reference}
    answer = rest.post(bindings(namespace), body).expect(422)
    assert answer["message"] == f'RoleBinding.{GROUP} "b" is invalid: {problem}'


@pytest.mark.parametrize(
    "subject, problem",
    [
        ({"kind": "User"}, "subjects[0].name: Required value"),
        ({"kind": "Robot", "name": "x"}, 'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'),
        ({"kind": "User", "apiGroup": "x", "name": "x"}, f'subjects[0].apiGroup: Unsupported value: "x": supported values: "{GROUP}"'),
        ({"kind": "ServiceAccount", "apiGroup": GROUP, "name": "x"}, f'subjects[0].apiGroup: Unsupported value: "{GROUP}": supported values: ""'),
    ],
)  # fmt: skip
def test_a_binding_names_somebody(rest: Rest, namespace: str, subject: dict[str, str], problem: str) -> None:
    answer = rest.post(bindings(namespace), binding("b", "x", "x") | {"subjects": [subject]}).expect(422)
    assert answer["message"] == f'RoleBinding.{GROUP} "b" is invalid: {problem}'


def test_an_account_bound_everywhere_needs_its_namespace(rest: Rest) -> None:
    body = binding("b", "view", "x", "ClusterRole") | {"subjects": [{"kind": "ServiceAccount", "name": "x"}]}
    answer = rest.post(CLUSTER_BINDINGS, body).expect(422)
    assert (
        answer["message"]
        == f'ClusterRoleBinding.{GROUP} "b" is invalid: subjects[0].namespace: Required value'
    )


def test_a_binding_everywhere_is_to_a_cluster_role(rest: Rest) -> None:
    answer = rest.post(CLUSTER_BINDINGS, binding("b", "x", "x")).expect(422)
    assert answer["message"] == (
        f'ClusterRoleBinding.{GROUP} "b" is invalid: '
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'
    )


def test_a_binding_is_completed(rest: Rest, namespace: str) -> None:
    subjects = [{"kind": "User", "name": "alice"}, {"kind": "ServiceAccount", "name": "default"}]
    body = {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "x"}, "subjects": subjects}
    made = rest.post(bindings(namespace), body).expect(201)
    assert made["roleRef"] == {"apiGroup": GROUP, "kind": "Role", "name": "x"}
    assert made["subjects"] == [{**subjects[0], "apiGroup": GROUP}, subjects[1]]


def test_a_binding_stays_with_its_role(rest: Rest, namespace: str) -> None:
    made = rest.post(bindings(namespace), binding("b", "one", "alice")).expect(201)
    changed = made | {"roleRef": made["roleRef"] | {"name": "two"}}
    answer = rest.put(bindings(namespace, "b"), changed).expect(422)
    assert answer["message"] == (
        f'RoleBinding.{GROUP} "b" is invalid: roleRef: Invalid value: '
        f'rbac.RoleRef{{APIGroup:"{GROUP}", Kind:"Role", Name:"two"}}: cannot change roleRef'
    )
    assert "subjects" not in rest.put(bindings(namespace, "b"), made | {"subjects": []}).expect(200)


@pytest.mark.parametrize(
    "rules, lacking",
    [
        ([GET_PODS | {"resources": ["pods", "secrets"], "verbs": ["get", "list", "delete"]}],
         '{APIGroups:[""], Resources:["pods"], Verbs:["list" "delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}'),
        ([GET_PODS | {"resourceNames": ["x"]}, GET_PODS | {"verbs": ["list"], "resourceNames": ["x", "y"]}],
         '{APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["list"]}\n{APIGroups:[""], Resources:["pods"], ResourceNames:["y"], Verbs:["list"]}'),
        ([GET_PODS | {"verbs": ["*"]}], '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'),
        ([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}], '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'),
    ],
)  # fmt: skip
def test_nobody_grants_what_they_do_not_hold(
    rest: Rest, namespace: str, rules: list[dict[str, Any]], lacking: str
) -> None:
    user = somebody()
    grant(rest, namespace, user, WRITE_ROLES, GET_PODS)
    answer = rest.send("POST", roles(namespace), role("more", *rules), headers=acting_as(user)).expect(403)
    assert answer["message"] == (
        f'roles.{GROUP} "more" is forbidden: user "{user}" (groups=["system:authenticated"]) '
        f"is attempting to grant RBAC permissions not currently held:\n{lacking}"
    )
    assert answer["details"] == {"name": "more", "group": GROUP, "kind": "roles"}
    assert rest.get(roles(namespace, "more")).status == 404


def test_what_is_held_may_be_granted_and_bound(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, WRITE_ROLES, GET_PODS)
    headers = acting_as(user)
    made = rest.send("POST", roles(namespace), role("held", GET_PODS), headers=headers).expect(201)
    bound = rest.send("POST", bindings(namespace), binding("b", "held", "bob"), headers=headers)
    assert bound.status == 201
    wider = made | {"rules": [READ_PODS]}
    assert rest.send("PUT", roles(namespace, "held"), wider, headers=headers).status == 403
    patch = {"rules": [READ_PODS]}
    merge = headers | {"Content-Type": "application/merge-patch+json"}
    assert rest.send("PATCH", roles(namespace, "held"), patch, headers=merge).status == 403
    labelled = {"metadata": {"labels": {"a": "b"}}}
    assert rest.send("PATCH", roles(namespace, "held"), labelled, headers=merge).status == 200


def test_a_role_that_holds_more_cannot_be_bound(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, WRITE_ROLES)
    body = binding("b", "cluster-admin", "bob", "ClusterRole")
    answer = rest.send("POST", bindings(namespace), body, headers=acting_as(user)).expect(403)
    assert answer["message"] == (
        f'rolebindings.{GROUP} "b" is forbidden: user "{user}" (groups=["system:authenticated"]) '
        "is attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}'
    )


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_a_role_that_is_missing_is_bound_by_nobody_but_administrators(
    rest: Rest, namespace: str, kind: str
) -> None:
    user = somebody()
    grant(rest, namespace, user, WRITE_ROLES)
    body = binding("b", "missing", "bob", kind)
    answer = rest.send("POST", bindings(namespace), body, headers=acting_as(user)).expect(404)
    assert answer["message"] == f'rolebindings.{GROUP} "missing" not found'
    assert rest.post(bindings(namespace), body).status == 201


@pytest.mark.parametrize(
    "verb, resource, path",
    [("escalate", "roles", roles), ("bind", "clusterroles", bindings)],
)
def test_two_verbs_lift_that_limit(rest: Rest, namespace: str, verb: str, resource: str, path: Any) -> None:
    user = somebody()
    lifted = {"apiGroups": [GROUP], "resources": [resource], "verbs": [verb]}
    grant(rest, namespace, user, lifted, WRITE_ROLES)
    body = role("more", READ_PODS) if verb == "escalate" else binding("b", "view", "bob", "ClusterRole")
    assert rest.send("POST", path(namespace), body, headers=acting_as(user)).status == 201


def test_aggregation_is_for_administrators(rest: Rest) -> None:
    user = somebody()
    rule = {"apiGroups": [GROUP], "resources": ["clusterroles"], "verbs": ["create"]}
    rest.post(CLUSTER_ROLES, role(user, rule)).expect(201)
    rest.post(CLUSTER_BINDINGS, binding(user, user, user, "ClusterRole")).expect(201)
    asked = {"group": GROUP, "resource": "clusterroles", "verb": "create"}
    until(lambda: allowed(rest, user, asked), what="the rights of the user")
    selectors = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    body = {"metadata": {"name": "sum"}, "aggregationRule": selectors, "rules": []}
    answer = rest.send("POST", CLUSTER_ROLES, body, headers=acting_as(user)).expect(403)
    rest.delete(f"{CLUSTER_BINDINGS}/{user}")
    rest.delete(f"{CLUSTER_ROLES}/{user}")
    assert answer["message"] == (
        f'clusterroles.{GROUP} "sum" is forbidden: must have cluster-admin privileges to use the aggregationRule'
    )


@pytest.mark.needs_controllers
def test_a_role_made_of_roles_follows_them(rest: Rest) -> None:
    name = somebody()
    selectors = {"clusterRoleSelectors": [{"matchLabels": {f"{name}/part": "true"}}]}
    whole = {"metadata": {"name": name}, "aggregationRule": selectors}
    part = role(f"{name}-part", READ_PODS)
    part["metadata"]["labels"] = {f"{name}/part": "true"}
    rest.post(CLUSTER_ROLES, whole).expect(201)

    def rules() -> Any:
        return rest.get(f"{CLUSTER_ROLES}/{name}").expect(200)["rules"]

    rest.post(CLUSTER_ROLES, part).expect(201)
    until(lambda: rules() == [READ_PODS], what="the rules of the part")
    rest.merge(f"{CLUSTER_ROLES}/{name}-part", {"rules": [GET_PODS]}).expect(200)
    until(lambda: rules() == [GET_PODS], what="the change of the part")
    rest.merge(f"{CLUSTER_ROLES}/{name}-part", {"metadata": {"labels": None}}).expect(200)
    until(lambda: not rules(), what="the end of the part")
    rest.delete(f"{CLUSTER_ROLES}/{name}")
    rest.delete(f"{CLUSTER_ROLES}/{name}-part")


@pytest.mark.parametrize(
    "name, attributes, answer",
    [
        ("cluster-admin", {"verb": "delete", "resource": "nodes"}, True),
        ("admin", {"verb": "create", "resource": "roles", "group": GROUP}, True),
        ("admin", {"verb": "escalate", "resource": "roles", "group": GROUP}, False),
        ("edit", {"verb": "create", "resource": "pods"}, True),
        ("edit", {"verb": "get", "resource": "secrets"}, True),
        ("edit", {"verb": "create", "resource": "roles", "group": GROUP}, False),
        ("edit", {"verb": "create", "resource": "serviceaccounts/token"}, True),
        ("view", {"verb": "watch", "resource": "deployments", "group": "apps"}, True),
        ("view", {"verb": "get", "resource": "pods/log"}, True),
        ("view", {"verb": "get", "resource": "secrets"}, False),
        ("view", {"verb": "get", "resource": "nodes"}, False),
        ("system:auth-delegator", {"verb": "create", "resource": "tokenreviews", "group": "authentication.k8s.io"}, True),
    ],
)  # fmt: skip
def test_the_roles_everybody_counts_on_are_there(
    rest: Rest, namespace: str, name: str, attributes: dict[str, str], answer: bool
) -> None:
    user = somebody()
    rest.post(bindings(namespace), binding("b", name, user, "ClusterRole")).expect(201)
    known = {"cluster-admin": "nodes", "system:auth-delegator": "tokenreviews"}.get(name, "pods")
    group = "authentication.k8s.io" if known == "tokenreviews" else ""
    verb = "create" if known == "tokenreviews" else "get"
    acts = {"namespace": namespace, "verb": verb, "resource": known, "group": group}
    until(lambda: allowed(rest, user, acts), what="the binding")
    assert allowed(rest, user, {"namespace": namespace, "group": "", **attributes}) is answer
