"""What is decided about volumes and claims without a cluster: cases that a server makes hard to reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_claim, a_pod

from paddlecloud.api.core import PersistentVolume, PersistentVolumeClaim, Pod
from paddlecloud.api.meta import Metadata
from paddlecloud.api.scheduling import StorageClass
from paddlecloud.embedded.workloads.podclaims import wanted_claims
from paddlecloud.embedded.workloads.volumebinding import claim_steps
from paddlecloud.embedded.workloads.volumefolders import make_folder, make_volume, remove_folder
from paddlecloud.embedded.workloads.volumelife import protect_claim, volume_steps
from paddlecloud.embedded.workloads.volumesteps import (
    COMPLETED,
    PROVISIONER,
    Patch,
    Provision,
    Reclaim,
    Seen,
    Step,
    Tell,
)

LOCAL = StorageClass(metadata=Metadata(name="local"), provisioner=PROVISIONER)
LATER = LOCAL.but(metadata=Metadata(name="later"), volume_binding_mode="WaitForFirstConsumer")
PROTECTED = ["kubernetes.io/pvc-protection"]


def claim_of(name: str = "c", kind: str = "local", **spec: Any) -> PersistentVolumeClaim:
    asked = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    made = a_claim(name, "Pending", storageClassName=kind, **(asked | spec))
    return made.but(metadata=made.metadata.but(finalizers=PROTECTED))


def annotated(claim: PersistentVolumeClaim, **annotations: str) -> PersistentVolumeClaim:
    return claim.but(metadata=claim.metadata.but(annotations=annotations))


def volume_of(claim: PersistentVolumeClaim, phase: str = "Pending", **spec: Any) -> PersistentVolume:
    made = make_volume(claim, LOCAL, Path(f"/volumes/pvc-{claim.uid}"))
    marks = made.metadata.but(finalizers=["kubernetes.io/pv-protection"])
    return made.but(spec={**made.spec, **spec}, status={"phase": phase}, metadata=marks)


def around(*objects: Any, users: tuple[Pod, ...] = ()) -> Seen:
    claims = {o.key: o for o in objects if isinstance(o, PersistentVolumeClaim)}
    volumes = {o.name: o for o in objects if isinstance(o, PersistentVolume)}
    using = {key: users for key in claims}
    return Seen(claims, volumes, {c.name: c for c in (LOCAL, LATER)}, using, NOW)


def shape(steps: list[Step]) -> list[str]:
    """Steps in short: kinds, and what is written or said."""
    words = []
    for step in steps:
        if isinstance(step, Patch):
            words.append(f"{step.obj.kind} {sorted(step.patch) if not step.status else step.patch['phase']}")
        elif isinstance(step, Tell):
            words.append(step.note.reason)
        else:
            words.append(type(step).__name__)
    return words


FRESH = claim_of()
BOUND = [
    "PersistentVolume Bound",
    "PersistentVolumeClaim ['metadata', 'spec']",
    "PersistentVolumeClaim Bound",
]


@pytest.mark.parametrize(
    "claim, there, steps",
    [
        (FRESH, [], ["Provision"]),
        (FRESH, [volume_of(FRESH)], BOUND),  # made before a crash, bound after it
        (FRESH, [volume_of(FRESH, "Bound")], BOUND[1:]),
        (claim_of(kind="later"), [], ["WaitForFirstConsumer"]),
        (annotated(claim_of(kind="later"), **{"volume.kubernetes.io/selected-node": "n"}), [], ["Provision"]),
        (claim_of(volumeMode="Block"), [], ["ProvisioningFailed"]),
        (claim_of(dataSource={"kind": "VolumeSnapshot", "name": "s"}), [], ["ProvisioningFailed"]),
        (claim_of(selector={"matchLabels": {"a": "b"}}), [], ["ProvisioningFailed"]),
        (FRESH.but(metadata=FRESH.metadata.but(deletion_timestamp=NOW)), [], []),
        (claim_of(volumeName="absent"), [], []),
    ],
    ids=["new", "crash", "later-crash", "waits", "placed", "block", "snapshot", "selector", "going", "named"],
)
def test_a_claim_takes_one_step_after_the_other(
    claim: PersistentVolumeClaim, there: list[PersistentVolume], steps: list[str]
) -> None:
    assert shape(claim_steps(claim, around(claim, *there), ())) == steps


def test_a_volume_that_another_claim_gets_in_this_look_is_not_given_twice() -> None:
    free = volume_of(FRESH, "Available", claimRef=None)
    steps = claim_steps(FRESH, around(FRESH, free), {free.name})
    assert shape(steps) == ["Provision"]


def test_a_settled_pair_costs_no_writes() -> None:
    volume = volume_of(FRESH, "Bound")
    done = annotated(FRESH, **{COMPLETED: "yes"}).but(
        spec={**FRESH.spec, "volumeName": volume.name},
        status={"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}},
    )
    seen = around(done, volume)
    assert [*claim_steps(done, seen, ()), *volume_steps(volume, seen)] == []
    assert protect_claim(FRESH, seen) == []


def test_a_folder_grows_by_saying_so() -> None:
    volume = volume_of(FRESH, "Bound")
    grown = annotated(FRESH, **{COMPLETED: "yes"}).but(
        spec={**FRESH.spec, "volumeName": volume.name, "resources": {"requests": {"storage": "3Gi"}}},
        status={"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}},
    )
    patches = [s.patch for s in claim_steps(grown, around(grown, volume), ()) if isinstance(s, Patch)]
    assert patches == [{"spec": {"capacity": {"storage": "3Gi"}}}, {"capacity": {"storage": "3Gi"}}]


@pytest.mark.parametrize(
    "volume, steps",
    [
        (volume_of(FRESH, "Bound"), ["PersistentVolume Released", "Reclaim"]),
        (volume_of(FRESH, "Released"), ["Reclaim"]),
        (volume_of(FRESH, "Failed"), ["Reclaim"]),
        (volume_of(FRESH, "Bound", persistentVolumeReclaimPolicy="Retain"), ["PersistentVolume Released"]),
        (
            volume_of(FRESH, "Released", persistentVolumeReclaimPolicy="Recycle"),
            ["PersistentVolume Failed", "VolumeFailedRecycle"],
        ),
        (volume_of(FRESH, claimRef=None), ["PersistentVolume Available"]),
    ],
    ids=["bound", "released", "failed", "retained", "recycled", "nobody's"],
)
def test_a_volume_whose_claim_is_gone(volume: PersistentVolume, steps: list[str]) -> None:
    assert shape(volume_steps(volume, around(volume))) == steps


def test_a_claim_of_the_same_name_does_not_inherit_a_volume() -> None:
    successor = FRESH.but(metadata=FRESH.metadata.but(uid="another"))
    steps = volume_steps(volume_of(FRESH, "Bound"), around(successor))
    assert any(isinstance(step, Reclaim) for step in steps)
    assert any(isinstance(s, Provision) for s in claim_steps(successor, around(successor), ()))


def test_the_last_mark_of_a_volume_of_ours_stays_until_its_folder_is_gone() -> None:
    volume = volume_of(FRESH, "Released")
    going = volume.but(metadata=volume.metadata.but(deletion_timestamp=NOW))
    assert shape(volume_steps(going, around(going))) == ["Reclaim"]


@pytest.mark.parametrize("node, held", [("n", True), ("", False)])
def test_a_claim_is_held_by_a_pod_with_a_node(node: str, held: bool) -> None:
    going = FRESH.but(metadata=FRESH.metadata.but(deletion_timestamp=NOW))
    pod = Pod(metadata=Metadata(name="p"), spec={"nodeName": node})
    assert (protect_claim(going, around(going, users=(pod,))) == []) == held


def test_a_pod_that_goes_gets_no_claims() -> None:
    volumes = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    pod = a_pod("p").but(spec={"volumes": volumes})
    going = pod.but(metadata=pod.metadata.but(deletion_timestamp=NOW))
    assert [claim.name for claim, _ in wanted_claims(pod, {}) if claim] == ["p-v"]
    assert list(wanted_claims(going, {})) == []


@pytest.mark.parametrize("inside", ["file", "closed folder", "link to a folder outside"])
def test_a_folder_goes_with_all_it_holds_and_nothing_else(tmp_path: Path, inside: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    folder = make_folder(tmp_path / "volumes", f"pvc-{FRESH.uid}")
    if inside == "file":
        (folder / "file").write_text("x")
    elif inside == "closed folder":
        (folder / "closed").mkdir()
        (folder / "closed" / "file").touch()
        (folder / "closed").chmod(0)
    else:
        (folder / "link").symlink_to(outside)
    volume = make_volume(FRESH, LOCAL, folder)
    assert remove_folder(tmp_path / "volumes", volume) == ""
    assert not folder.exists() and (outside / "kept").exists()
    assert remove_folder(tmp_path / "volumes", volume) == ""


@pytest.mark.parametrize("path", ["outside", "volumes", "volumes/other", "volumes/../outside"])
def test_only_the_folder_of_the_volume_is_removed(tmp_path: Path, path: str) -> None:
    (tmp_path / path).mkdir(parents=True, exist_ok=True)
    made = make_volume(FRESH, LOCAL, tmp_path / "volumes" / "pvc-x")
    volume = made.but(spec={**made.spec, "hostPath": {"path": str(tmp_path / path)}})
    assert "not a folder of this cluster" in remove_folder(tmp_path / "volumes", volume)
    assert (tmp_path / path).exists()
