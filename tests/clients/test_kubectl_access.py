"""kubectl on who may do what, on certificates, and on nodes as objects."""

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
from tests.contracts.granting import READ_PODS, grant, somebody
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.kubectl


@pytest.fixture
def reader(rest: Rest, namespace: str) -> str:
    """Somebody who may get and list pods."""
    name = somebody()
    grant(rest, namespace, name, READ_PODS)
    return name


@pytest.mark.parametrize(
    "words, answer",
    [
        (("get", "pods"), "yes"),
        (("create", "pods"), "no"),
        (("get", "pods", "--subresource=log"), "no"),
        (("get", "pdj"), "no"),
        (("list", "pods", "-A"), "no"),
        (("get", "/healthz"), "yes"),
    ],
)
def test_can_i(kubectl: Kubectl, reader: str, words: tuple[str, ...], answer: str) -> None:
    done = kubectl.run("auth", "can-i", *words, f"--as={reader}", "--as-group=system:authenticated")
    assert (done.stdout.split()[0], done.returncode) == (answer, 0 if answer == "yes" else 1), done.stderr


def test_the_owner_can_do_everything(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "*", "*", "-A").split()[-1] == "yes"


def test_what_somebody_can_do_is_listed(kubectl: Kubectl, reader: str) -> None:
    rows = kubectl("auth", "can-i", "--list", f"--as={reader}", "--no-headers").splitlines()
    assert ["pods", "[]", "[]", "[get", "list]"] in [row.split() for row in rows]


def test_a_borrowed_identity_is_told(kubectl: Kubectl) -> None:
    borrowed = ("--as=jane", "--as-group=dev", "--as-uid=7")
    user = kubectl.json("auth", "whoami", *borrowed)["status"]["userInfo"]
    assert user == {"username": "jane", "uid": "7", "groups": ["dev", "system:authenticated"]}


def test_what_may_not_be_is_told_in_full(kubectl: Kubectl, reader: str) -> None:
    done = kubectl.run("create", "cm", "x", f"--as={reader}")
    assert (done.returncode, done.stderr) == (
        1,
        f'error: failed to create configmap: configmaps is forbidden: User "{reader}" cannot create resource '
        f'"configmaps" in API group "" in the namespace "{kubectl.namespace}"\n',
    )


def test_roles_are_reconciled(kubectl: Kubectl) -> None:
    def role(resource: str) -> dict[str, Any]:
        rule = {"apiGroups": [""], "resources": [resource], "verbs": ["get"]}
        metadata = {"name": "x", "namespace": kubectl.namespace}
        api_version = "rbac.authorization.k8s.io/v1"
        return {"apiVersion": api_version, "kind": "Role", "metadata": metadata, "rules": [rule]}

    def resources() -> list[str]:
        return [rule["resources"][0] for rule in kubectl.json("get", "role", "x")["rules"]]

    kubectl("auth", "reconcile", "-f", "-", stdin=role("pods"))
    assert resources() == ["pods"]
    kubectl("auth", "reconcile", "-f", "-", stdin=role("secrets"))
    assert resources() == ["pods", "secrets"]
    kubectl("auth", "reconcile", "--remove-extra-permissions", "-f", "-", stdin=role("secrets"))
    assert resources() == ["secrets"]


def signing_request(name: str) -> dict[str, Any]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    text = base64.b64encode(request.public_bytes(Encoding.PEM)).decode()
    signer = "kubernetes.io/kube-apiserver-client"
    # Who asks is the server's to say.
    spec = {"request": text, "signerName": signer, "usages": ["client auth"], "username": "somebody-else"}
    api_version = "certificates.k8s.io/v1"
    metadata = {"name": name}
    return {
        "apiVersion": api_version,
        "kind": "CertificateSigningRequest",
        "metadata": metadata,
        "spec": spec,
    }


@pytest.mark.parametrize("verb, word", [("approve", "Approved"), ("deny", "Denied")])
def test_a_request_for_a_certificate_is_decided_once(kubectl: Kubectl, verb: str, word: str) -> None:
    name = kubectl.namespace
    owner = kubectl.json("auth", "whoami")["status"]["userInfo"]
    kubectl("create", "-f", "-", stdin=signing_request(name))
    try:
        spec = kubectl.json("get", "csr", name)["spec"]
        assert (spec["username"], spec["groups"]) == (owner["username"], owner["groups"])
        patch = '{"spec":{"username":"somebody-else"}}'
        assert "no change" in kubectl("patch", "csr", name, "--type=merge", "-p", patch)
        kubectl("certificate", verb, name)
        assert kubectl("get", "csr", name, "--no-headers").split()[-1] == word
        assert ["Status:", word] in [line.split() for line in kubectl("describe", "csr", name).splitlines()]
        [condition] = kubectl.json("get", "csr", name)["status"]["conditions"]
        assert (condition["type"], condition["status"]) == (word, "True")
        assert condition["lastTransitionTime"]
        other = "deny" if verb == "approve" else "approve"
        done = kubectl.run("certificate", other, name)
        assert (done.returncode, f"is already {word}" in done.stderr) == (1, True)
    finally:
        kubectl("delete", "csr", name)


@pytest.fixture
def node(kubectl: Kubectl) -> Iterator[str]:
    name = kubectl.namespace
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": name}}}
    kubectl("create", "-f", "-", stdin=body)
    yield name
    kubectl("delete", "node", name)


def test_a_node_is_tainted(kubectl: Kubectl, node: str) -> None:
    def taints() -> list[str]:
        found = kubectl.json("get", "node", node)["spec"].get("taints") or ()
        # Controllers taint nodes that nobody hears of.
        return [f"{t['key']}={t.get('value', '')}" for t in found if "kubernetes.io" not in t["key"]]

    assert kubectl("taint", "node", node, "a=b:NoSchedule") == f"node/{node} tainted\n"
    assert kubectl.run("taint", "node", node, "a=c:NoSchedule").returncode == 1
    kubectl("taint", "node", node, "a=c:NoSchedule", "--overwrite")
    assert taints() == ["a=c"]
    assert kubectl("taint", "node", node, "a:NoSchedule-") == f"node/{node} untainted\n"
    assert taints() == []


def test_a_node_is_cordoned(kubectl: Kubectl, node: str) -> None:
    assert kubectl("cordon", node) == f"node/{node} cordoned\n"
    assert kubectl("cordon", node) == f"node/{node} already cordoned\n"
    assert "SchedulingDisabled" in kubectl("get", "node", node)
    assert kubectl("uncordon", "-l", f"zone={node}") == f"node/{node} uncordoned\n"
    assert "SchedulingDisabled" not in kubectl("get", "node", node)
    kubectl("label", "node", node, "node-role.kubernetes.io/worker=")
    assert kubectl("get", "node", node, "--no-headers").split()[2] == "worker"
