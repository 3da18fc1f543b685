"""What becomes of a volume when its claim goes, and what keeps both while they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.storage import Storage
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

pytestmark = pytest.mark.needs_controllers


@pytest.fixture
def storage(rest: Rest, namespace: str) -> Iterator[Storage]:
    made = Storage(rest, namespace)
    yield made
    made.clear()


def test_a_retained_volume_is_released_and_given_to_nobody(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.delete_claim("c")
    volume = storage.volume_is("v", "Released")
    assert volume["spec"]["claimRef"]["name"] == "c"
    storage.add_claim("c")
    storage.heard("c", "ProvisioningFailed")
    assert storage.volume("v")["status"]["phase"] == "Released"


def test_a_released_volume_without_its_reference_is_available_again(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.delete_claim("c")
    storage.volume_is("v", "Released")
    storage.rest.merge(storage.volume_path("v"), {"spec": {"claimRef": None}}).expect(200)
    storage.volume_is("v", "Available")
    storage.add_claim("again")
    storage.bound("again", "v")


@pytest.mark.parametrize(
    "source, why",
    [
        (
            {"hostPath": {"path": "/srv/x"}},
            "host_path deleter only supports /tmp/.+ but received provided /srv/x",
        ),
        (
            {"local": {"path": "/srv/x"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}},
            'error getting deleter volume plugin for volume "NAME": no volume plugin matched',
        ),
    ],
    ids=["hostPath", "local"],
)  # fmt: skip
def test_a_volume_that_nobody_can_delete_has_failed(
    storage: Storage, source: dict[str, Any], why: str
) -> None:
    storage.add_volume("v", persistentVolumeReclaimPolicy="Delete", **source)
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.delete_claim("c")
    failed = storage.volume_is("v", "Failed")
    words = why.replace("NAME", storage.volume_name("v"))
    assert failed["status"]["message"] == words
    assert storage.heard(storage.volume_name("v"), "VolumeFailedDelete") == f"Warning: {words}"


def test_a_volume_made_by_somebody_else_waits_for_its_maker(storage: Storage) -> None:
    storage.add_volume(
        "v",
        persistentVolumeReclaimPolicy="Delete",
        annotations={"pv.kubernetes.io/provisioned-by": "example.com/elsewhere"},
    )
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.delete_claim("c")
    storage.volume_is("v", "Released")


def test_a_claim_stays_while_a_pod_uses_it(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.user_of("c", nodeName="nowhere")
    # The controller must know of the pod; the scheduler's word is what makes it a user.
    storage.delete_claim("c")
    storage.add_claim("other")
    storage.heard("other", "ProvisioningFailed")
    assert "deletionTimestamp" in storage.claim("c")["metadata"]
    assert storage.claim("c")["status"]["phase"] == "Bound"
    storage.delete_pod()
    storage.gone(storage.claim_path("c"))
    storage.volume_is("v", "Released")


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_holds_its_claims_until_it_is_deleted(storage: Storage, phase: str) -> None:
    storage.add_claim("c")
    storage.user_of("c", nodeName="nowhere")
    status = f"/api/v1/namespaces/{storage.namespace}/pods/user/status"
    storage.rest.merge(status, {"status": {"phase": phase}}).expect(200)
    storage.delete_claim("c")
    storage.add_claim("other")
    storage.heard("other", "ProvisioningFailed")
    assert "deletionTimestamp" in storage.claim("c")["metadata"]
    storage.delete_pod()
    storage.gone(storage.claim_path("c"))


def test_a_pod_that_has_no_node_holds_nothing(storage: Storage) -> None:
    storage.add_claim("c")
    storage.user_of("c")
    storage.delete_claim("c")
    storage.gone(storage.claim_path("c"))


def test_a_volume_stays_while_a_claim_has_it(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.rest.delete(storage.volume_path("v")).expect(200)
    storage.add_claim("other")
    storage.heard("other", "ProvisioningFailed")
    assert "deletionTimestamp" in storage.volume("v")["metadata"]
    storage.delete_claim("c")
    storage.gone(storage.volume_path("v"))


def test_a_volume_nobody_has_goes_at_once(storage: Storage) -> None:
    storage.add_volume("v")
    storage.volume_is("v", "Available")
    storage.rest.delete(storage.volume_path("v")).expect(200)
    storage.gone(storage.volume_path("v"))


def test_a_claim_made_from_a_template_of_a_pod_goes_with_it(storage: Storage) -> None:
    template = {
        "metadata": {"labels": {"made": "for-a-pod"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage.class_name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    storage.add_volume("v")
    storage.volume_is("v", "Available")
    pod = storage.add_pod("user", volumes=[{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}])
    until(lambda: storage.rest.get(storage.claim_path("user-data")).status == 200, what="the claim")
    claim, _ = storage.bound("user-data", "v")
    assert claim["metadata"]["labels"] == {"made": "for-a-pod"}
    assert claim["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1", "kind": "Pod", "name": "user", "uid": pod["metadata"]["uid"],
            "controller": True, "blockOwnerDeletion": True,
        }
    ]  # fmt: skip
    storage.delete_pod()
    storage.gone(storage.claim_path("user-data"))


def test_a_claim_of_somebody_else_is_not_taken_for_a_pods_own(storage: Storage) -> None:
    storage.add_claim("user-data")
    template = {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    storage.add_pod("user", volumes=[{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}])
    words = (
        f"Warning: ephemeral volume data: PVC {storage.namespace}/user-data was not created for pod "
        f"{storage.namespace}/user (pod is not owner)"
    )
    assert storage.heard("user", "FailedBinding") == words
