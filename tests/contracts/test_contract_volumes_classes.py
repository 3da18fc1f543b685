"""Claims of a class: who is asked to make a volume, what waits for a pod, and what may grow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contracts.storage import PROVISIONER, Storage
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

pytestmark = pytest.mark.needs_controllers
WAITING = "WaitForFirstConsumer"
ASKED = {
    "volume.kubernetes.io/storage-provisioner": PROVISIONER,
    "volume.beta.kubernetes.io/storage-provisioner": PROVISIONER,
}
EXTERNAL = (
    f"Normal: Waiting for a volume to be created either by the external provisioner '{PROVISIONER}' or "
    "manually by the system administrator. If volume creation is delayed, please verify that the provisioner "
    "is running and correctly registered."
)


@pytest.fixture
def storage(rest: Rest, namespace: str) -> Iterator[Storage]:
    made = Storage(rest, namespace)
    yield made
    made.clear()


def test_the_maker_of_a_class_is_asked_and_waited_for(storage: Storage) -> None:
    storage.add_class()
    storage.add_claim("c")
    assert storage.heard("c", "ExternalProvisioning") == EXTERNAL
    assert storage.claim("c")["metadata"]["annotations"] == ASKED


def test_a_volume_that_its_maker_made_for_a_claim_is_bound_to_it(storage: Storage) -> None:
    storage.add_class()
    claim = storage.add_claim("c")
    storage.heard("c", "ExternalProvisioning")
    reference = {"namespace": storage.namespace, "name": "c", "uid": claim["metadata"]["uid"]}
    storage.add_volume("v", claimRef={"apiVersion": "v1", "kind": "PersistentVolumeClaim", **reference})
    claim, _ = storage.bound("c", "v")
    steps = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    assert claim["metadata"]["annotations"] == ASKED | steps


def test_a_class_that_waits_says_so(storage: Storage) -> None:
    storage.add_class(volumeBindingMode=WAITING)
    storage.add_volume("v")
    storage.volume_is("v", "Available")
    storage.add_claim("c")
    words = "Normal: waiting for first consumer to be created before binding"
    assert storage.heard("c", WAITING) == words
    assert storage.volume("v")["status"]["phase"] == "Available"
    assert "annotations" not in storage.claim("c")["metadata"]


@pytest.mark.parametrize(
    "pods, words",
    [
        (["user"], "waiting for pod user to be scheduled"),
        (["a", "b"], "waiting for pods a,b to be scheduled"),
    ],
)
def test_a_claim_that_waits_for_pods_names_them(storage: Storage, pods: list[str], words: str) -> None:
    storage.add_class(volumeBindingMode=WAITING)
    for pod in pods:
        storage.user_of("c", pod)
    storage.add_claim("c")
    heard = storage.heard("c", "WaitForPodScheduled").removeprefix("Normal: ")
    assert sorted(heard.replace(",", " ").split()) == sorted(words.replace(",", " ").split())


def test_the_node_of_the_first_pod_brings_the_maker_into_play(storage: Storage) -> None:
    storage.add_class(volumeBindingMode=WAITING)
    storage.add_claim("c")
    storage.heard("c", WAITING)
    node = {"volume.kubernetes.io/selected-node": "somewhere"}
    storage.rest.merge(storage.claim_path("c"), {"metadata": {"annotations": node}}).expect(200)
    assert storage.heard("c", "ExternalProvisioning") == EXTERNAL
    assert storage.claim("c")["metadata"]["annotations"] == ASKED | node


def test_a_volume_promised_to_a_waiting_claim_is_bound_to_it(storage: Storage) -> None:
    storage.add_class(volumeBindingMode=WAITING)
    storage.add_volume("v")
    storage.volume_is("v", "Available")
    claim = storage.add_claim("c")
    storage.heard("c", WAITING)
    promise = {
        "metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": storage.namespace,
                "name": "c", "uid": claim["metadata"]["uid"],
            }
        },
    }  # fmt: skip
    storage.rest.merge(storage.volume_path("v"), promise).expect(200)
    storage.bound("c", "v")


@pytest.mark.parametrize("grows", [None, False])
def test_a_claim_grows_only_where_its_class_allows_it(storage: Storage, grows: bool | None) -> None:
    storage.add_class(**({} if grows is None else {"allowVolumeExpansion": grows}))
    storage.add_volume("v", "5Gi")
    storage.add_claim("c")
    storage.bound("c", "v")
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    answer = storage.rest.merge(storage.claim_path("c"), more).expect(403)
    assert answer["message"] == (
        'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the '
        "storageclass that provisions the pvc must support resize"
    )


def test_a_claim_that_grows_waits_for_who_can_do_it(storage: Storage) -> None:
    storage.add_class(allowVolumeExpansion=True)
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    storage.rest.merge(storage.claim_path("c"), more).expect(200)
    words = "waiting for an external controller to expand this PVC"
    assert storage.heard("c", "ExternalExpanding") == f"Normal: {words}"
    assert storage.claim("c")["status"]["capacity"] == {"storage": "1Gi"}


def test_a_claim_that_waits_cannot_grow(storage: Storage) -> None:
    storage.add_class(allowVolumeExpansion=True)
    storage.add_claim("c")
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    answer = storage.rest.merge(storage.claim_path("c"), more)
    assert answer.status in (403, 422), answer.text


def test_a_class_whose_volumes_are_made_by_hand_says_so(storage: Storage) -> None:
    storage.add_class(provisioner="kubernetes.io/no-provisioner")
    storage.add_claim("c")
    words = "Warning: no volume plugin matched name: kubernetes.io/no-provisioner"
    assert storage.heard("c", "ProvisioningFailed") == words


def test_a_claim_without_a_class_gets_the_one_that_becomes_the_default(storage: Storage) -> None:
    """Where a cluster has no default the claim waits; where it has one, the newest is taken."""
    storage.add_class(volumeBindingMode=WAITING)
    path = f"/apis/storage.k8s.io/v1/storageclasses/{storage.class_name}"
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    storage.rest.merge(path, {"metadata": {"annotations": default}}).expect(200)
    body = {
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    storage.rest.post(storage.claim_path("").rstrip("/"), body).expect(201)
    until(lambda: storage.claim("c")["spec"].get("storageClassName") == storage.class_name, what="the class")
    storage.heard("c", WAITING)
