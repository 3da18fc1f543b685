"""Questions about access: answered, never stored."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.granting import (
    AUTHENTICATION,
    AUTHORIZATION,
    READ_PODS,
    acting_as,
    grant,
    somebody,
    who,
)
from tests.kubernetes.rest import Rest

ALICE = acting_as("alice")
LIST_PODS = {"verb": "list", "resource": "pods"}
VERSION = {"verb": "get", "path": "/version"}


def may_i(rest: Rest, spec: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    answer = rest.send("POST", f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": spec}, headers=headers)
    body: dict[str, Any] = answer.expect(201)
    return body


def test_who_i_am(rest: Rest) -> None:
    body = who(rest).expect(201)
    assert (body["kind"], body["apiVersion"]) == ("SelfSubjectReview", "authentication.k8s.io/v1")
    assert "creationTimestamp" in body["metadata"]
    groups = body["status"]["userInfo"]["groups"]
    assert {"system:masters", "system:authenticated"} <= set(groups)


def test_an_administrator_may_do_everything(rest: Rest) -> None:
    body = may_i(rest, {"resourceAttributes": LIST_PODS})
    assert body["kind"] == "SelfSubjectAccessReview"
    assert body["spec"] == {"resourceAttributes": LIST_PODS}
    assert body["status"] == {"allowed": True}


def test_a_stranger_may_not(rest: Rest) -> None:
    assert may_i(rest, {"resourceAttributes": LIST_PODS}, ALICE)["status"] == {"allowed": False}


def test_the_answer_names_the_binding(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, READ_PODS)
    asked = {"resourceAttributes": LIST_PODS | {"namespace": namespace}}
    through = f'RoleBinding "of-{user}/{namespace}" of Role "of-{user}" to User "{user}"'
    status = may_i(rest, asked, acting_as(user))["status"]
    assert status == {"allowed": True, "reason": f"RBAC: allowed by {through}"}


def test_paths_can_be_asked_about(rest: Rest) -> None:
    status = may_i(rest, {"nonResourceAttributes": VERSION}, ALICE)["status"]
    assert status["allowed"] is True
    assert status["reason"].endswith('to Group "system:authenticated"')
    assert may_i(rest, {"nonResourceAttributes": VERSION | {"path": "/no"}}, ALICE)["status"] == {
        "allowed": False
    }


@pytest.mark.parametrize(
    "kind, spec, field, problem",
    [
        ("selfsubjectaccessreviews", {}, "spec.resourceAttributes",
         'Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be '
         "specified"),
        ("selfsubjectaccessreviews", {"resourceAttributes": LIST_PODS, "nonResourceAttributes": VERSION},
         "spec.nonResourceAttributes",
         'Invalid value: authorization.NonResourceAttributes{Path:"/version", Verb:"get"}: '
         "cannot be specified in combination with resourceAttributes"),
        ("subjectaccessreviews", {"resourceAttributes": LIST_PODS}, "spec.user",
         'Invalid value: "": at least one of user or group must be specified'),
        ("namespaces/default/localsubjectaccessreviews",
         {"user": "alice", "resourceAttributes": LIST_PODS | {"namespace": "other"}},
         "spec.resourceAttributes.namespace", 'Invalid value: "other": must match metadata.namespace'),
        ("namespaces/default/localsubjectaccessreviews", {"user": "alice", "nonResourceAttributes": VERSION},
         "spec.nonResourceAttributes",
         'Invalid value: authorization.NonResourceAttributes{Path:"/version", Verb:"get"}: '
         "disallowed on this kind of request"),
    ],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(
    rest: Rest, kind: str, spec: dict[str, Any], field: str, problem: str
) -> None:
    answer = rest.post(f"{AUTHORIZATION}/{kind}", {"spec": spec}).expect(422)
    assert answer["message"] == f'.authorization.k8s.io "" is invalid: {field}: {problem}'
    [cause] = answer["details"]["causes"]
    assert cause == {"reason": "FieldValueInvalid", "message": problem, "field": field}


@pytest.mark.parametrize(
    "spec, allowed",
    [
        ({"user": "alice"}, False),
        ({"user": "alice", "groups": ["system:masters"]}, True),
        ({"groups": ["system:masters"]}, True),
    ],
)
def test_others_can_be_asked_about(rest: Rest, spec: dict[str, Any], allowed: bool) -> None:
    whole = spec | {"resourceAttributes": LIST_PODS}
    body = rest.post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": whole}).expect(201)
    assert (body["kind"], body["status"]) == ("SubjectAccessReview", {"allowed": allowed})


def test_others_can_be_asked_about_in_a_namespace(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, READ_PODS)
    spec = {"user": user, "resourceAttributes": LIST_PODS | {"namespace": namespace}}
    path = f"{AUTHORIZATION}/namespaces/{namespace}/localsubjectaccessreviews"
    body = rest.post(path, {"spec": spec}).expect(201)
    assert (body["kind"], body["metadata"]["namespace"]) == ("LocalSubjectAccessReview", namespace)
    assert body["status"]["allowed"] is True


@pytest.mark.parametrize(
    "kind",
    [
        f"{AUTHORIZATION}/subjectaccessreviews",
        f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews",
        f"{AUTHENTICATION}/tokenreviews",
    ],
)
def test_not_everybody_may_ask_about_others(rest: Rest, kind: str) -> None:
    assert rest.send("POST", kind, {"spec": {}}, headers=ALICE).status == 403


def test_everything_i_may_do_in_a_namespace(rest: Rest, namespace: str) -> None:
    user = somebody()
    grant(rest, namespace, user, READ_PODS)
    path, body = f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": namespace}}
    status = rest.send("POST", path, body, headers=acting_as(user)).expect(201)["status"]
    assert READ_PODS in status["resourceRules"]
    assert {
        "verbs": ["create"],
        "apiGroups": ["authentication.k8s.io"],
        "resources": ["selfsubjectreviews"],
    } in status["resourceRules"]
    assert any("/apis/*" in rule["nonResourceURLs"] for rule in status["nonResourceRules"])
    assert status["incomplete"] is False


def test_an_administrator_is_told_that_everything_is_allowed(rest: Rest, namespace: str) -> None:
    path, body = f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": namespace}}
    status = rest.post(path, body).expect(201)["status"]
    assert {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]} in status["resourceRules"]
    assert {"verbs": ["*"], "nonResourceURLs": ["*"]} in status["nonResourceRules"]


def test_rules_are_asked_for_in_a_namespace(rest: Rest) -> None:
    answer = rest.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {}}).expect(400)
    assert answer["message"] == "no namespace on request"


@pytest.mark.parametrize(
    "path",
    [
        f"{AUTHORIZATION}/selfsubjectaccessreviews",
        f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews",
        f"{AUTHENTICATION}/tokenreviews",
        f"{AUTHENTICATION}/selfsubjectreviews",
    ],
)
def test_questions_are_not_kept(rest: Rest, path: str) -> None:
    assert rest.get(path).status == 405


def test_a_token_nobody_made_is_nobodys(rest: Rest) -> None:
    body = rest.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": "no"}}).expect(201)
    assert body["status"] == {"user": {}, "error": "invalid bearer token"}


def test_a_review_of_no_token_is_a_bad_request(rest: Rest) -> None:
    answer = rest.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {}}).expect(400)
    assert answer["message"] == "token is required for TokenReview in authentication"
