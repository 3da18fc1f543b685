"""Who may do what: refusals word for word, roles at work, identities that are borrowed."""

# The sentences of Kubernetes are not broken.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.granting import (
    AUTHENTICATION,
    CLUSTER_BINDINGS,
    CLUSTER_ROLES,
    READ_PODS,
    acting_as,
    allowed,
    binding,
    bindings,
    grant,
    role,
    somebody,
    who,
)
from tests.contracts.objects import NAMESPACES, config_map, core, jobs, pod
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

ALICE = acting_as("alice")
HERE = 'in the namespace "{namespace}"'
EVERYWHERE = "at the cluster scope"


@pytest.mark.parametrize(
    "method, path, sentence",
    [
        ("GET", core("{namespace}", "pods"), f'pods is forbidden: User "alice" cannot list resource "pods" in API group "" {HERE}'),
        ("GET", core("{namespace}", "pods", "x"), f'pods "x" is forbidden: User "alice" cannot get resource "pods" in API group "" {HERE}'),
        ("GET", core("{namespace}", "pods", "x/log"), f'pods "x" is forbidden: User "alice" cannot get resource "pods/log" in API group "" {HERE}'),
        ("PATCH", core("{namespace}", "pods", "x/status"), f'pods "x" is forbidden: User "alice" cannot patch resource "pods/status" in API group "" {HERE}'),
        ("POST", core("{namespace}", "configmaps"), f'configmaps is forbidden: User "alice" cannot create resource "configmaps" in API group "" {HERE}'),
        ("PUT", core("{namespace}", "configmaps", "x"), f'configmaps "x" is forbidden: User "alice" cannot update resource "configmaps" in API group "" {HERE}'),
        ("DELETE", core("{namespace}", "secrets", "x"), f'secrets "x" is forbidden: User "alice" cannot delete resource "secrets" in API group "" {HERE}'),
        ("DELETE", jobs("{namespace}"), f'paddlejobs.batch.paddlepaddle.org is forbidden: User "alice" cannot deletecollection resource "paddlejobs" in API group "batch.paddlepaddle.org" {HERE}'),
        ("GET", "/api/v1/pods", f'pods is forbidden: User "alice" cannot list resource "pods" in API group "" {EVERYWHERE}'),
        ("GET", "/api/v1/pods?watch=true", f'pods is forbidden: User "alice" cannot watch resource "pods" in API group "" {EVERYWHERE}'),
        ("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dx", f'pods "x" is forbidden: User "alice" cannot list resource "pods" in API group "" {EVERYWHERE}'),
        ("GET", f"{NAMESPACES}/{{namespace}}", f'namespaces "{{namespace}}" is forbidden: User "alice" cannot get resource "namespaces" in API group "" {HERE}'),
        ("GET", NAMESPACES, f'namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group "" {EVERYWHERE}'),
        ("GET", "/api/v1/nodes/n", f'nodes "n" is forbidden: User "alice" cannot get resource "nodes" in API group "" {EVERYWHERE}'),
        ("GET", "/apis/nobody.example.org/v1/things", f'things.nobody.example.org is forbidden: User "alice" cannot list resource "things" in API group "nobody.example.org" {EVERYWHERE}'),
        ("GET", "/metrics", 'forbidden: User "alice" cannot get path "/metrics"'),
        ("POST", "/no", 'forbidden: User "alice" cannot post path "/no"'),
    ],
)  # fmt: skip
def test_a_stranger_is_refused_word_for_word(
    rest: Rest, namespace: str, method: str, path: str, sentence: str
) -> None:
    answer = rest.send(method, path.format(namespace=namespace), headers=ALICE).expect(403)
    assert (answer["reason"], answer["code"]) == ("Forbidden", 403)
    assert answer["message"] == sentence.format(namespace=namespace)


@pytest.mark.parametrize(
    "path, details",
    [
        (core("default", "pods"), {"kind": "pods"}),
        (core("default", "pods", "x"), {"name": "x", "kind": "pods"}),
        (
            jobs("default", "x"),
            {"name": "x", "group": "batch.paddlepaddle.org", "kind": "paddlejobs"},
        ),
    ],
)
def test_a_refusal_names_the_object(rest: Rest, path: str, details: dict[str, str]) -> None:
    assert rest.send("GET", path, headers=ALICE).expect(403)["details"] == details


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/version", "/openapi/v3"])
def test_everybody_known_may_find_out_what_is_served(rest: Rest, path: str) -> None:
    assert rest.send("GET", path, headers=ALICE).status == 200


@pytest.mark.parametrize("path", ["/api", "/apis", "/openapi/v3", "/.well-known/openid-configuration"])
def test_somebody_unknown_may_not(rest: Rest, path: str) -> None:
    nobody = rest.holding("")
    answer = nobody.get(path).expect(403)
    nobody.close()
    assert answer["message"] == f'forbidden: User "system:anonymous" cannot get path "{path}"'


def test_somebody_unknown_is_told_what_they_may_not_do(rest: Rest) -> None:
    nobody = rest.holding("")
    answer = nobody.get("/api/v1/secrets").expect(403)
    nobody.close()
    assert answer["message"] == (
        'secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" '
        "at the cluster scope"
    )


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_is_open_to_all(rest: Rest, path: str) -> None:
    nobody = rest.holding("")
    assert nobody.get(path).text == "ok"
    nobody.close()


def test_a_role_grants_what_it_names_and_nothing_else(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, READ_PODS)
    headers = acting_as(user)
    assert rest.send("GET", core(namespace, "pods"), headers=headers).status == 200
    assert rest.send("GET", core(namespace, "pods", "x"), headers=headers).status == 404
    assert rest.send("GET", core(namespace, "pods"), query={"watch": "1"}, headers=headers).status == 403
    assert rest.send("POST", core(namespace, "pods"), pod(), headers=headers).status == 403
    assert rest.send("GET", core(namespace, "secrets"), headers=headers).status == 403
    assert rest.send("GET", core(namespace, "pods", "x/log"), headers=headers).status == 403
    assert rest.send("GET", core("default", "pods"), headers=headers).status == 403
    assert rest.send("GET", "/api/v1/pods", headers=headers).status == 403


@pytest.mark.parametrize(
    "rule, wanted, answer",
    [
        ({"resources": ["pods/log"]}, {"resource": "pods/log"}, True),
        ({"resources": ["pods/log"]}, {"resource": "pods"}, False),
        ({"resources": ["*/scale"], "apiGroups": ["apps"]}, {"resource": "deployments/scale", "group": "apps"}, True),
        ({"resources": ["*/scale"], "apiGroups": ["apps"]}, {"resource": "deployments", "group": "apps"}, False),
        ({"resources": ["*"]}, {"resource": "pods/exec"}, True),
        ({"resources": ["pods/*"]}, {"resource": "pods/log"}, False),
        ({"verbs": ["*"]}, {"verb": "impersonate"}, True),
        ({"apiGroups": ["*"]}, {"group": "apps"}, True),
        ({"apiGroups": ["apps"]}, {"group": ""}, False),
        ({"resourceNames": ["one"]}, {"name": "one"}, True),
        ({"resourceNames": ["one"]}, {"name": "two"}, False),
        ({"resourceNames": ["one"]}, {"name": ""}, False),
        ({}, {"verb": "GET"}, False),
    ],
)  # fmt: skip
def test_how_rules_are_read(
    rest: Rest, namespace: str, rule: dict[str, Any], wanted: dict[str, str], answer: bool
) -> None:
    user = somebody()
    whole = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], **rule}
    # A rule of its own tells when the binding acts.
    known = {"apiGroups": [""], "resources": ["bindings"], "verbs": ["get"]}
    grant(rest, namespace, user, known, whole)
    asked = {"namespace": namespace, "resource": "pods", "group": "", "verb": "get", **wanted}
    assert allowed(rest, user, asked) is answer


def test_an_object_named_in_a_rule_may_be_listed_alone(rest: Rest, namespace: str) -> None:
    user = somebody()
    only = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"], "resourceNames": ["settings"]}
    grant(rest, namespace, user, only)
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    rest.post(core(namespace, "configmaps"), config_map("others")).expect(201)
    path, headers = core(namespace, "configmaps"), acting_as(user)
    [found] = rest.send(
        "GET", path, query={"fieldSelector": "metadata.name=settings"}, headers=headers
    ).expect(200)["items"]
    assert found["metadata"]["name"] == "settings"
    assert rest.send("GET", path, headers=headers).status == 403


def test_an_apply_that_makes_an_object_needs_leave_to_make_it(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]})
    headers = acting_as(user) | {"Content-Type": "application/apply-patch+yaml"}
    path, query = core(namespace, "configmaps", "settings"), {"fieldManager": "tests"}
    answer = rest.send("PATCH", path, config_map(), query=query, headers=headers).expect(403)
    assert answer["message"] == (
        f'configmaps "settings" is forbidden: User "{user}" cannot create resource "configmaps" in API group '
        f'"" in the namespace "{namespace}"'
    )
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    assert rest.send("PATCH", path, config_map(), query=query, headers=headers).status == 200


def test_a_group_holds_what_is_bound_to_it(rest: Rest, namespace: str) -> None:
    group = somebody()
    body = binding("readers", "view", group, "ClusterRole")
    body["subjects"][0]["kind"] = "Group"
    rest.post(bindings(namespace), body).expect(201)
    path = core(namespace, "pods")
    until(
        lambda: rest.send("GET", path, headers=acting_as("alice", group)).status == 200,
        what="the rights of the group",
    )
    assert rest.send("GET", path, headers=ALICE).status == 403


def test_a_cluster_role_bound_in_a_namespace_acts_there_alone(rest: Rest, namespace: str) -> None:
    user = somebody()
    rest.post(bindings(namespace), binding("viewer", "view", user, "ClusterRole")).expect(201)
    headers = acting_as(user)
    until(
        lambda: rest.send("GET", core(namespace, "pods"), headers=headers).status == 200,
        what="the rights of the viewer",
    )
    assert rest.send("GET", f"{NAMESPACES}/{namespace}", headers=headers).status == 200
    assert rest.send("GET", core("default", "pods"), headers=headers).status == 403
    assert rest.send("GET", NAMESPACES, headers=headers).status == 403
    assert rest.send("GET", core(namespace, "secrets"), headers=headers).status == 403


def test_a_right_that_is_taken_away_is_gone(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, READ_PODS)
    path, headers = core(namespace, "pods"), acting_as(user)
    assert rest.send("GET", path, headers=headers).status == 200
    rest.delete(bindings(namespace, f"of-{user}")).expect(200)
    until(lambda: rest.send("GET", path, headers=headers).status == 403, what="the revocation")


def test_paths_are_granted_by_cluster_roles(rest: Rest) -> None:
    user = somebody()
    rule = {"nonResourceURLs": ["/metrics", "/inside/*"], "verbs": ["get"]}
    rest.post(CLUSTER_ROLES, role(user, rule)).expect(201)
    rest.post(CLUSTER_BINDINGS, binding(user, user, user, "ClusterRole")).expect(201)
    headers = acting_as(user)
    # Not found is found out after it was allowed.
    until(
        lambda: rest.send("GET", "/inside/out", headers=headers).status == 404, what="the rights to the path"
    )
    assert rest.send("GET", "/inside", headers=headers).status == 403
    assert rest.send("POST", "/inside/out", headers=headers).status == 403
    rest.delete(f"{CLUSTER_BINDINGS}/{user}").expect(200)
    rest.delete(f"{CLUSTER_ROLES}/{user}").expect(200)


@pytest.mark.parametrize(
    "headers, groups",
    [
        (acting_as("alice"), ["system:authenticated"]),
        (acting_as("alice", "devs"), ["devs", "system:authenticated"]),
        (acting_as("alice", "system:authenticated"), ["system:authenticated"]),
        (
            acting_as("system:serviceaccount:default:x"),
            ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        ),
        (acting_as("system:serviceaccount:default:x", "devs"), ["devs", "system:authenticated"]),
    ],
)
def test_a_borrowed_identity_comes_with_its_groups(
    rest: Rest, headers: dict[str, str], groups: list[str]
) -> None:
    found = who(rest, headers).expect(201)["status"]["userInfo"]
    assert found == {"username": headers["Impersonate-User"], "groups": groups}


def test_a_borrowed_identity_may_have_a_uid_and_more(rest: Rest) -> None:
    more = {"Impersonate-Uid": "7", "Impersonate-Extra-Acme.com%2Fproject": "apollo"}
    found = who(rest, acting_as("alice") | more).expect(201)["status"]["userInfo"]
    assert (found["uid"], found["extra"]) == ("7", {"acme.com/project": ["apollo"]})


@pytest.mark.parametrize("part", ["Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scopes"])
def test_parts_of_an_identity_are_not_enough(rest: Rest, part: str) -> None:
    answer = who(rest, {part: "x"})
    assert answer.status == 500
    assert "without impersonating a user" in answer.text


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"Impersonate-User": "eve"}, 'users "eve" is forbidden: {user} cannot impersonate resource "users" in API group "" at the cluster scope'),
        ({"Impersonate-Group": "g"}, 'groups "g" is forbidden: {user} cannot impersonate resource "groups" in API group "" at the cluster scope'),
        ({"Impersonate-Uid": "7"}, 'uids.authentication.k8s.io "7" is forbidden: {user} cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope'),
        ({"Impersonate-Extra-Scopes": "v"}, 'userextras.authentication.k8s.io "v" is forbidden: {user} cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope'),
        ({"Impersonate-User": "system:serviceaccount:default:x"}, 'serviceaccounts "x" is forbidden: {user} cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"'),
    ],
)  # fmt: skip
def test_an_identity_is_not_borrowed_without_leave(
    rest: Rest, namespace: str, more: dict[str, str], sentence: str
) -> None:
    account = core(namespace, "serviceaccounts", "default/token")
    token = rest.post(account, {"spec": {}}).expect(201)["status"]["token"]
    name = f"system:serviceaccount:{namespace}:default"
    rule = {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["bob"]}
    rest.post(CLUSTER_ROLES, role(namespace, rule)).expect(201)
    rest.post(CLUSTER_BINDINGS, binding(namespace, namespace, name, "ClusterRole")).expect(201)
    holder = rest.holding(token)
    review = f"{AUTHENTICATION}/selfsubjectreviews"
    try:
        until(
            lambda: holder.send("POST", review, {}, headers=acting_as("bob")).status == 201,
            what="leave to be bob",
        )
        answer = holder.send("POST", review, {}, headers=acting_as("bob") | more).expect(403)
        assert answer["message"] == sentence.format(user=f'User "{name}"')
    finally:
        holder.close()
        rest.delete(f"{CLUSTER_BINDINGS}/{namespace}")
        rest.delete(f"{CLUSTER_ROLES}/{namespace}")
