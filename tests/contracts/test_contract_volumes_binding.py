"""Which volume a claim gets, and what both say while they have none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.storage import Storage
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
Body = dict[str, Any]
COMPLETED, BY_CONTROLLER = "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"
ONCE, MANY, READ = "ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"


@pytest.fixture
def storage(rest: Rest, namespace: str) -> Iterator[Storage]:
    made = Storage(rest, namespace)
    yield made
    made.clear()


def test_a_volume_nobody_claims_becomes_available(storage: Storage) -> None:
    storage.add_volume("v")
    found = storage.volume_is("v", "Available")
    assert found["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    assert "lastPhaseTransitionTime" in found["status"]


def test_a_claim_and_its_volume_know_of_each_other(storage: Storage) -> None:
    storage.add_volume("v", "2Gi", accessModes=[ONCE, READ])
    storage.volume_is("v", "Available")
    storage.add_claim("c")
    claim, volume = storage.bound("c", "v")
    assert claim["spec"]["volumeName"] == storage.volume_name("v")
    assert claim["metadata"]["annotations"] == {COMPLETED: "yes", BY_CONTROLLER: "yes"}
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert claim["status"] == {
        "phase": "Bound", "accessModes": [ONCE, READ], "capacity": {"storage": "2Gi"}
    }  # fmt: skip
    reference = volume["spec"]["claimRef"]
    assert reference.pop("resourceVersion")
    assert reference == {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "c", "namespace": storage.namespace,
        "uid": claim["metadata"]["uid"],
    }  # fmt: skip
    assert volume["metadata"]["annotations"] == {BY_CONTROLLER: "yes"}


@pytest.mark.parametrize(
    "volumes, claim, chosen",
    [
        ({"big": {"size": "9Gi"}, "fits": {"size": "2Gi"}, "small": {}}, {"size": "2Gi"}, "fits"),
        ({"b": {"size": "3Gi"}, "a": {"size": "3072Mi"}, "c": {"size": "5Gi"}}, {"size": "4Gi"}, "c"),
        (
            {"one": {"accessModes": [ONCE]}, "more": {"accessModes": [ONCE, MANY]}},
            {"accessModes": [MANY]},
            "more",
        ),
        (
            {"more": {"accessModes": [ONCE, MANY]}, "one": {"size": "5Gi", "accessModes": [ONCE]}},
            {"accessModes": [ONCE]},
            "one",
        ),
        (
            {"grey": {"labels": {"colour": "grey"}}, "red": {"size": "9Gi", "labels": {"colour": "red"}}},
            {"selector": {"matchLabels": {"colour": "red"}}},
            "red",
        ),
        (
            {"none": {}, "some": {"size": "4Gi", "labels": {"colour": "any"}}},
            {"selector": {"matchExpressions": [{"key": "colour", "operator": "Exists"}]}},
            "some",
        ),
        ({"other": {"storageClassName": "of-another"}, "same": {"size": "9Gi"}}, {}, "same"),
        ({"raw": {"volumeMode": "Block"}, "files": {"size": "9Gi"}}, {}, "files"),
        ({"raw": {"size": "9Gi", "volumeMode": "Block"}, "files": {}}, {"volumeMode": "Block"}, "raw"),
    ],
    ids=["smallest-that-fits", "amounts-are-compared", "mode", "fewest-modes-first", "labels", "expressions",
         "class", "files", "block"],
)  # fmt: skip
def test_a_claim_gets_the_volume_that_fits_it_best(
    storage: Storage, volumes: dict[str, Body], claim: Body, chosen: str
) -> None:
    for name, fields in volumes.items():
        storage.add_volume(name, **fields)
    for name in volumes:
        storage.volume_is(name, "Available")
    storage.add_claim("c", **claim)
    storage.bound("c", chosen)
    for name in volumes.keys() - {chosen}:
        assert storage.volume(name)["status"]["phase"] == "Available"


def test_without_a_class_and_a_volume_a_claim_hears_that(storage: Storage) -> None:
    storage.add_claim("c", storageClassName="")
    words = "Normal: no persistent volumes available for this claim and no storage class is set"
    assert storage.heard("c", "FailedBinding") == words
    assert storage.claim("c")["status"] == {"phase": "Pending"}


def test_a_class_that_is_not_there_is_named(storage: Storage) -> None:
    storage.add_claim("c")
    words = f'Warning: storageclass.storage.k8s.io "{storage.class_name}" not found'
    assert storage.heard("c", "ProvisioningFailed") == words


def test_a_claim_that_waited_gets_the_volume_that_comes(storage: Storage) -> None:
    storage.add_claim("c")
    storage.heard("c", "ProvisioningFailed")
    storage.add_volume("v")
    storage.bound("c", "v")


def test_a_volume_asked_for_by_name_is_waited_for_and_then_taken(storage: Storage) -> None:
    storage.add_volume("other")
    storage.volume_is("other", "Available")
    storage.add_claim("c", volumeName=storage.volume_name("v"))
    storage.add_volume("v", "5Gi")
    claim, volume = storage.bound("c", "v")
    assert claim["metadata"]["annotations"] == {COMPLETED: "yes"}
    assert volume["metadata"]["annotations"] == {BY_CONTROLLER: "yes"}
    assert storage.volume("other")["status"]["phase"] == "Available"


@pytest.mark.parametrize(
    "volume, why",
    [
        ({"size": "500Mi"}, "requested PV is too small"),
        ({"storageClassName": "of-another"}, "storageClassName does not match"),
        ({"volumeMode": "Block"}, "incompatible volumeMode"),
        ({"accessModes": [READ]}, "incompatible accessMode"),
    ],
)
def test_a_volume_asked_for_by_name_must_fit(storage: Storage, volume: Body, why: str) -> None:
    storage.add_volume("v", **volume)
    storage.volume_is("v", "Available")
    storage.add_claim("c", volumeName=storage.volume_name("v"))
    words = f'Warning: Cannot bind to requested volume "{storage.volume_name("v")}": {why}'
    assert storage.heard("c", "VolumeMismatch") == words
    assert storage.claim("c")["status"]["phase"] == "Pending"


def test_a_volume_of_somebody_else_cannot_be_asked_for(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("first")
    storage.bound("first", "v")
    storage.add_claim("second", volumeName=storage.volume_name("v"))
    words = f'Warning: volume "{storage.volume_name("v")}" already bound to a different claim.'
    assert storage.heard("second", "FailedBinding") == words


def test_a_volume_kept_for_a_claim_is_taken_by_no_other(storage: Storage) -> None:
    kept = {"namespace": storage.namespace, "name": "c"}
    storage.add_volume("kept", claimRef=kept)
    storage.add_volume("free", "9Gi")
    storage.volume_is("kept", "Available")
    storage.volume_is("free", "Available")
    storage.add_claim("another")
    storage.bound("another", "free")
    storage.add_claim("c")
    claim, volume = storage.bound("c", "kept")
    assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
    # Its maker chose it: when the claim goes, the reference stays with it.
    assert BY_CONTROLLER not in volume["metadata"].get("annotations", {})


def test_a_claim_that_loses_its_volume_is_lost(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    storage.rest.delete(storage.volume_path("v")).expect(200)
    # Held back as long as it is bound.
    assert storage.volume("v")["metadata"]["deletionTimestamp"]
    storage.rest.merge(storage.volume_path("v"), {"metadata": {"finalizers": None}}).expect(200)
    assert storage.claim_is("c", "Lost")["status"] == {"phase": "Lost"}
    words = "Warning: Bound claim has lost its PersistentVolume. Data on the volume is lost!"
    assert storage.heard("c", "ClaimLost") == words


def test_a_bound_claim_whose_volume_was_given_to_another_is_lost(storage: Storage) -> None:
    storage.add_volume("v")
    storage.add_claim("c")
    storage.bound("c", "v")
    other = {"claimRef": {"name": "other", "uid": "00000000-0000-0000-0000-000000000000"}}
    storage.rest.merge(storage.volume_path("v"), {"spec": other}).expect(200)
    storage.claim_is("c", "Lost")
    words = "Warning: Two claims are bound to the same volume, this one is bound incorrectly"
    assert storage.heard("c", "ClaimMisbound") == words
