"""Requests for certificates: who asked is the server's to say, and a decision goes through its own door."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from tests.contracts.granting import who
from tests.kubernetes.rest import Rest

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SIGNER = "kubernetes.io/kube-apiserver-client"
APPROVED = {"type": "Approved", "status": "True", "reason": "Checked", "message": "by hand"}


def signing_request(name: str) -> dict[str, Any]:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    made = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    text = base64.b64encode(made.public_bytes(Encoding.PEM)).decode()
    lie = {"username": "somebody-else", "groups": ["system:masters", "nobody"], "uid": "1"}
    spec = {"request": text, "signerName": SIGNER, "usages": ["client auth"], **lie}
    return {"metadata": {"name": name}, "spec": spec}


@pytest.fixture
def request_path(rest: Rest, namespace: str) -> Iterator[str]:
    """A request, named after the namespace of the test."""
    rest.post(REQUESTS, signing_request(namespace)).expect(201)
    yield f"{REQUESTS}/{namespace}"
    rest.delete(f"{REQUESTS}/{namespace}")


def test_who_asks_is_what_the_server_knows(rest: Rest, request_path: str) -> None:
    asker = who(rest).expect(201)["status"]["userInfo"]
    spec = rest.get(request_path).expect(200)["spec"]
    assert {key: spec.get(key) for key in ("username", "uid", "groups")} == {
        key: asker.get(key) for key in ("username", "uid", "groups")
    }


def test_what_was_asked_for_never_changes(rest: Rest, request_path: str) -> None:
    before = rest.get(request_path).expect(200)
    change = {"spec": {"username": "somebody-else", "signerName": "example.org/other"}}
    assert rest.merge(request_path, change).expect(200)["spec"] == before["spec"]


def test_a_decision_is_made_at_its_door(rest: Rest, request_path: str) -> None:
    body = rest.get(request_path).expect(200)
    body["status"] = {"conditions": [APPROVED]}
    body["spec"]["username"] = "somebody-else"
    assert not rest.put(request_path, body).expect(200)["status"].get("conditions")
    body["metadata"].pop("resourceVersion")
    made = rest.put(f"{request_path}/approval", body).expect(200)
    [condition] = made["status"]["conditions"]
    assert condition.items() >= APPROVED.items()
    assert condition["lastTransitionTime"] and condition["lastUpdateTime"]
    assert made["spec"]["username"] != "somebody-else"
    assert rest.get(f"{request_path}/approval").expect(200)["status"]["conditions"] == [condition]
