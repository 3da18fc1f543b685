"""Service accounts: their tokens, what these are bound to, and what every namespace gets with them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.granting import AUTHENTICATION, who
from tests.contracts.objects import core, pod
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

API = "https://kubernetes.default.svc"


def request_token(rest: Rest, namespace: str, account: str = "default", **spec: Any) -> dict[str, Any]:
    path = core(namespace, "serviceaccounts", f"{account}/token")
    body: dict[str, Any] = rest.post(path, {"spec": spec}).expect(201)
    return body


def claims(token: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return found


@pytest.fixture
def token(rest: Rest, namespace: str) -> str:
    return str(request_token(rest, namespace)["status"]["token"])


@pytest.fixture
def holder(rest: Rest, token: str) -> Iterator[Rest]:
    """The default account of the namespace."""
    client = rest.holding(token)
    yield client
    client.close()


def test_a_token_is_made_for_an_account(rest: Rest, namespace: str) -> None:
    body = request_token(rest, namespace)
    assert (body["kind"], body["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
    assert (body["metadata"]["name"], body["metadata"]["namespace"]) == ("default", namespace)
    assert body["spec"] == {"audiences": [API], "expirationSeconds": 3600, "boundObjectRef": None}
    account = rest.get(core(namespace, "serviceaccounts", "default")).expect(200)["metadata"]
    found = claims(body["status"]["token"])
    assert (found["iss"], found["aud"], found["exp"] - found["iat"]) == (API, [API], 3600)
    assert found["sub"] == f"system:serviceaccount:{namespace}:default"
    assert found["kubernetes.io"] == {
        "namespace": namespace,
        "serviceaccount": {"name": "default", "uid": account["uid"]},
    }


def test_an_account_is_known_by_its_token(rest: Rest, holder: Rest, token: str, namespace: str) -> None:
    account = rest.get(core(namespace, "serviceaccounts", "default")).expect(200)["metadata"]
    assert who(holder).expect(201)["status"]["userInfo"] == {
        "username": f"system:serviceaccount:{namespace}:default",
        "uid": account["uid"],
        "groups": ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims(token)['jti']}"]},
    }


def test_an_account_may_not_read_secrets(holder: Rest, namespace: str) -> None:
    answer = holder.get(core(namespace, "secrets")).expect(403)
    assert answer["message"] == (
        f'secrets is forbidden: User "system:serviceaccount:{namespace}:default" cannot list resource '
        f'"secrets" in API group "" in the namespace "{namespace}"'
    )


@pytest.mark.parametrize(
    "body, field, problem",
    [
        ({"spec": {"expirationSeconds": 60}}, "spec.expirationSeconds",
         "Invalid value: 60: may not specify a duration less than 10 minutes"),
        ({"spec": {"expirationSeconds": 2**33}}, "spec.expirationSeconds",
         f"Invalid value: {2**33}: may not specify a duration larger than 2^32 seconds"),
        ({"metadata": {"name": "other"}, "spec": {}}, "metadata.name",
         'Invalid value: "other": must match the service account name if specified'),
    ],
)  # fmt: skip
def test_a_token_nobody_can_make_is_refused(
    rest: Rest, namespace: str, body: dict[str, Any], field: str, problem: str
) -> None:
    answer = rest.post(core(namespace, "serviceaccounts", "default/token"), body).expect(422)
    [cause] = answer["details"]["causes"]
    assert (cause["field"], cause["message"]) == (field, problem)
    assert answer["message"].endswith(f"is invalid: {field}: {problem}")


@pytest.mark.parametrize(
    "reference, status, message",
    [
        ({"kind": "Pod", "apiVersion": "v1", "name": "missing"}, 404, 'pods "missing" not found'),
        ({"kind": "ConfigMap", "apiVersion": "v1", "name": "x"}, 400,
         "cannot bind token to object of type /v1, Kind=ConfigMap"),
    ],
)  # fmt: skip
def test_a_token_is_bound_to_what_is_there(
    rest: Rest, namespace: str, reference: dict[str, str], status: int, message: str
) -> None:
    path = core(namespace, "serviceaccounts", "default/token")
    answer = rest.post(path, {"spec": {"boundObjectRef": reference}}).expect(status)
    assert answer["message"] == message


def test_a_token_is_not_bound_to_another_pod_of_that_name(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "sleeper", "uid": "other"}
    path = core(namespace, "serviceaccounts", "default/token")
    answer = rest.post(path, {"spec": {"boundObjectRef": reference}}).expect(409)
    assert answer["message"] == (
        'Operation cannot be fulfilled on Pod "sleeper": the UID in the bound object reference (other) does '
        "not match the UID in record. The object might have been deleted and then recreated"
    )


def test_a_token_of_a_missing_account_is_not_made(rest: Rest, namespace: str) -> None:
    answer = rest.post(core(namespace, "serviceaccounts", "none/token"), {"spec": {}}).expect(404)
    assert answer["message"] == 'serviceaccounts "none" not found'


def test_a_token_bound_to_a_pod_names_it_and_dies_with_it(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "pods"), pod()).expect(201)["metadata"]
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "sleeper", "uid": made["uid"]}
    token = request_token(rest, namespace, boundObjectRef=reference)["status"]["token"]
    assert claims(token)["kubernetes.io"]["pod"] == {"name": "sleeper", "uid": made["uid"]}
    holder = rest.holding(token)
    extra = who(holder).expect(201)["status"]["userInfo"]["extra"]
    assert extra["authentication.kubernetes.io/pod-name"] == ["sleeper"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [made["uid"]]
    rest.delete(core(namespace, "pods", "sleeper"), gracePeriodSeconds=0).expect(200)
    until(lambda: who(holder).status == 401, what="the end of the token")
    holder.close()


def test_a_token_dies_with_its_account(rest: Rest, namespace: str) -> None:
    accounts = core(namespace, "serviceaccounts")
    rest.post(accounts, {"metadata": {"name": "robot"}}).expect(201)
    holder = rest.holding(request_token(rest, namespace, "robot")["status"]["token"])
    assert who(holder).status == 201
    rest.delete(f"{accounts}/robot").expect(200)
    until(lambda: who(holder).status == 401, what="the end of the token")
    rest.post(accounts, {"metadata": {"name": "robot"}}).expect(201)
    assert who(holder).status == 401
    holder.close()


def test_a_token_for_others_is_not_for_the_api(rest: Rest, namespace: str) -> None:
    token = request_token(rest, namespace, audiences=["vault"])["status"]["token"]
    holder = rest.holding(token)
    assert who(holder).status == 401
    holder.close()
    review = f"{AUTHENTICATION}/tokenreviews"
    status = rest.post(review, {"spec": {"token": token, "audiences": ["vault", "x"]}}).expect(201)["status"]
    assert (status["authenticated"], status["audiences"]) == (True, ["vault"])


def test_a_review_tells_whose_token_it_is(rest: Rest, namespace: str, token: str) -> None:
    body = rest.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": token}}).expect(201)
    assert (body["kind"], body["status"]["authenticated"]) == ("TokenReview", True)
    assert body["status"]["user"]["username"] == f"system:serviceaccount:{namespace}:default"
    assert body["status"]["audiences"] == [API]


def test_a_review_for_another_audience_says_why_not(rest: Rest, token: str) -> None:
    spec = {"token": token, "audiences": ["x"]}
    status = rest.post(f"{AUTHENTICATION}/tokenreviews", {"spec": spec}).expect(201)["status"]
    why = f'token audiences ["{API}"] is invalid for the target audiences ["x"]'
    assert status == {"user": {}, "error": f"[invalid bearer token, {why}]"}


@pytest.mark.parametrize(
    "change", [lambda t: t[:-4] + "AAAA", lambda t: t.rsplit(".", 1)[0] + ".", str.upper]
)
def test_a_token_that_was_tampered_with_is_refused(rest: Rest, token: str, change: Any) -> None:
    forger = rest.holding(change(token))
    assert who(forger).status == 401
    forger.close()


@pytest.mark.needs_controllers
def test_every_namespace_has_the_certificate_of_the_api(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps", "kube-root-ca.crt")
    until(lambda: rest.get(path).status == 200, what="the certificate in the namespace")
    assert rest.get(path).expect(200)["data"] == {"ca.crt": rest.ca}


@pytest.mark.needs_controllers
@pytest.mark.parametrize("spoilt", ["deleted", "changed"])
def test_the_certificate_of_the_api_comes_back(rest: Rest, namespace: str, spoilt: str) -> None:
    path = core(namespace, "configmaps", "kube-root-ca.crt")
    until(lambda: rest.get(path).status == 200, what="the certificate in the namespace")
    if spoilt == "deleted":
        uid = rest.get(path).expect(200)["metadata"]["uid"]
        rest.delete(path).expect(200)
        until(lambda: rest.get(path).body["metadata"].get("uid") not in (None, uid), what="a new one")
    else:
        rest.merge(path, {"data": {"ca.crt": "another", "more": "x"}}).expect(200)
    until(lambda: rest.get(path).body.get("data") == {"ca.crt": rest.ca}, what="the right certificate")


def test_accounts_may_find_the_keys_that_sign_their_tokens(holder: Rest, token: str) -> None:
    found = holder.get("/.well-known/openid-configuration").expect(200)
    assert found["issuer"] == claims(token)["iss"]
    assert found["jwks_uri"] == f"{holder.server}/openid/v1/jwks"
    assert found["response_types_supported"] == ["id_token"]
    keys = holder.get_as("application/jwk-set+json", "/openid/v1/jwks")
    assert keys.headers["Content-Type"] == "application/jwk-set+json"
    header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
    [key] = [k for k in keys.expect(200)["keys"] if k["kid"] == header["kid"]]
    assert (key["alg"], key["use"]) == (header["alg"], "sig")
    assert header["alg"] in found["id_token_signing_alg_values_supported"]


@pytest.mark.kubectl
def test_kubectl_asks_who_and_whether(kubectl: Kubectl) -> None:
    assert "system:masters" in kubectl("auth", "whoami")
    assert kubectl.run("auth", "can-i", "list", "pods").stdout == "yes\n"
    asked = kubectl.run("auth", "can-i", "list", "pods", "--as", "alice")
    assert (asked.returncode, asked.stdout) == (1, "no\n")
    assert "*.*" in kubectl("auth", "can-i", "--list")


@pytest.mark.kubectl
def test_kubectl_grants_borrows_and_makes_tokens(kubectl: Kubectl, rest: Rest, namespace: str) -> None:
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods,pods/log")
    kubectl("create", "rolebinding", "reader", "--role=reader", "--serviceaccount", f"{namespace}:default")
    account = f"system:serviceaccount:{namespace}:default"
    until(
        lambda: kubectl.run("auth", "can-i", "get", "pods/log", "--as", account).stdout == "yes\n",
        what="the rights of the account",
    )
    refused = kubectl.run("get", "secrets", "--as", account)
    assert refused.returncode == 1
    assert "Error from server (Forbidden): secrets is forbidden" in refused.stderr
    token = kubectl("create", "token", "default", "--duration", "10m").strip()
    assert claims(token)["exp"] - claims(token)["iat"] == 600
    holder = rest.holding(token)
    assert holder.get(core(namespace, "pods")).status == 200
    holder.close()
