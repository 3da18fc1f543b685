"""Decides how far a volume is, what becomes of it when its claim goes, and what keeps both; pure.

Data is removed only from volumes that were made here, whose policy says so, and whose claim is gone. A claim
stays while a pod with a node uses it, a volume while a claim has it: their finalizers go last.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...api.core import PersistentVolumeClaim
from ...api.meta import Key, Resource
from .volumesteps import (
    BY_CONTROLLER,
    PROVISIONED_BY,
    PROVISIONER,
    Claim,
    Patch,
    Reclaim,
    Seen,
    Step,
    Volume,
    phase,
    warn,
)

CLAIM_IN_USE, VOLUME_IN_USE = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


def volume_steps(volume: Volume, seen: Seen) -> list[Step]:
    return [*life(volume, seen), *protect_volume(volume, seen)]


def life(volume: Volume, seen: Seen) -> Iterator[Step]:
    reference = volume.spec.get("claimRef") or {}
    if not reference.get("uid"):
        # Nobody's, or kept for a claim that has not come yet.
        yield from phase(volume, "Available", seen.now)
        return
    claim = claim_of(volume, seen)
    if claim is None:
        yield from release(volume, seen)
    elif claim.spec.get("volumeName") == volume.name:
        yield from phase(volume, "Bound", seen.now)
    elif not claim.spec.get("volumeName"):
        if claim.spec.get("volumeMode") != volume.spec.get("volumeMode"):
            words = f'Cannot bind PersistentVolume to requested PersistentVolumeClaim "{claim.name}" due to '
            yield warn(volume, "VolumeMismatch", words + "incompatible volumeMode.")
    elif is_ours(volume) and volume.spec.get("persistentVolumeReclaimPolicy") == "Delete":
        yield from release(volume, seen)
    else:
        yield from unbind(volume, seen)


def claim_of(volume: Volume, seen: Seen) -> Claim | None:
    """The claim that has the volume; a new one of the same name is another."""
    reference = volume.spec.get("claimRef") or {}
    claim = seen.claims.get(Key(str(reference.get("namespace")), str(reference.get("name"))))
    return claim if claim is not None and claim.uid == reference.get("uid") else None


def is_ours(volume: Volume) -> bool:
    return volume.metadata.annotations.get(PROVISIONED_BY) == PROVISIONER


def release(volume: Volume, seen: Seen) -> Iterator[Step]:
    failed = volume.status.get("phase") == "Failed"
    if not failed:
        yield from phase(volume, "Released", seen.now)
    policy = volume.spec.get("persistentVolumeReclaimPolicy")
    if policy == "Delete" and is_ours(volume):
        yield Reclaim(volume)
        return
    problem, reason = "", "VolumeFailedDelete"
    if policy == "Delete" and not volume.metadata.annotations.get(PROVISIONED_BY):
        problem = undeletable(volume)
    elif policy == "Recycle":
        problem, reason = "No recycler plugin found for the volume!", "VolumeFailedRecycle"
    if problem and not (failed and volume.status.get("message") == problem):
        yield from phase(volume, "Failed", seen.now, problem)
        yield warn(volume, reason, problem)


def undeletable(volume: Volume) -> str:
    """Why the data of a volume that somebody made by hand stays; empty where its maker will remove it."""
    if "csi" in volume.spec:
        return ""
    if host := volume.spec.get("hostPath"):
        return f"host_path deleter only supports /tmp/.+ but received provided {host['path']}"
    return f'error getting deleter volume plugin for volume "{volume.name}": no volume plugin matched'


def unbind(volume: Volume, seen: Seen) -> Iterator[Step]:
    """Its claim has another volume: what we promised is taken back, what its maker wrote stays."""
    if BY_CONTROLLER in volume.metadata.annotations:
        change = {"spec": {"claimRef": None}, "metadata": {"annotations": {BY_CONTROLLER: None}}}
        yield Patch(volume, change)
    else:
        yield Patch(volume, {"spec": {"claimRef": {"uid": None, "resourceVersion": None}}})
    yield from phase(volume, "Available", seen.now)


def protect_volume(volume: Volume, seen: Seen) -> list[Step]:
    held = volume.status.get("phase") == "Bound" or awaits_removal(volume)
    return finalizer(volume, VOLUME_IN_USE, held)


def awaits_removal(volume: Volume) -> bool:
    """Whether its folder is to be removed first."""
    deletes = volume.spec.get("persistentVolumeReclaimPolicy") == "Delete"
    return is_ours(volume) and deletes and bool((volume.spec.get("claimRef") or {}).get("uid"))


def protect_claim(claim: PersistentVolumeClaim, seen: Seen) -> list[Step]:
    return finalizer(claim, CLAIM_IN_USE, any(pod.node for pod in seen.users.get(claim.key, ())))


def finalizer(obj: Resource, name: str, held: bool) -> list[Step]:
    """On everything that lives; gone from what is to go and is not held."""
    there = obj.metadata.finalizers
    if obj.metadata.deletion_timestamp is None and name not in there:
        return [Patch(obj, {"metadata": {"finalizers": [*there, name]}})]
    if obj.metadata.deletion_timestamp is not None and name in there and not held:
        return [Patch(obj, {"metadata": {"finalizers": [f for f in there if f != name]}})]
    return []
