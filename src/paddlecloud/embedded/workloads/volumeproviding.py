"""Decides who makes a volume for a claim and who lets it grow; pure.

Volumes of our own provisioner are folders of the home; for any other the claim says whom it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...scheduler.claims import class_of, size, size_of
from ...scheduler.quantities import amount
from .volumesteps import PROVISIONED_BY, PROVISIONER, Claim, Patch, Provision, Seen, Step, Volume, tell, warn

ASKED = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")


def provide(claim: Claim, seen: Seen) -> Iterator[Step]:
    """Ask whoever makes volumes of the class; ours are made right here."""
    name = class_of(claim)
    found = seen.classes.get(name)
    if found is None:
        words = f'storageclass.storage.k8s.io "{name}" not found'
        yield warn(claim, "ProvisioningFailed", words)
    elif found.provisioner == PROVISIONER:
        if refusal := unmakeable(claim):
            words = f'failed to provision volume with StorageClass "{name}": {refusal}'
            yield warn(claim, "ProvisioningFailed", words)
        else:
            yield Provision(claim, found)
    elif found.provisioner.startswith("kubernetes.io/"):
        yield warn(claim, "ProvisioningFailed", f"no volume plugin matched name: {found.provisioner}")
    else:
        asked = dict.fromkeys(ASKED, found.provisioner)
        if any(claim.metadata.annotations.get(key) != value for key, value in asked.items()):
            yield Patch(claim, {"metadata": {"annotations": asked}})
        yield tell(claim, "ExternalProvisioning", external(found.provisioner))


def unmakeable(claim: Claim) -> str:
    """Why a folder is not what the claim asks for."""
    if (claim.spec.get("volumeMode") or "Filesystem") != "Filesystem":
        return "volumes of this cluster are folders: use volumeMode Filesystem"
    if claim.spec.get("dataSource") or claim.spec.get("dataSourceRef"):
        return "volumes of this cluster begin empty: fill it from a pod instead of a dataSource"
    if claim.spec.get("selector"):
        return "claim Selector is not supported: leave it out, or make the volume yourself"
    return ""


def external(provisioner: str) -> str:
    return (
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually "
        "by the system administrator. If volume creation is delayed, please verify that the provisioner is "
        "running and correctly registered."
    )


def grow(claim: Claim, volume: Volume) -> Iterator[Step]:
    """A folder has the size of its disk: it grows by saying so. Others are grown by who made them."""
    has = amount("storage", (claim.status.get("capacity") or {}).get("storage", 0))
    if claim.status.get("phase") != "Bound" or size(claim) <= has:
        return
    if volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
        yield tell(claim, "ExternalExpanding", "waiting for an external controller to expand this PVC")
        return
    wanted = {"storage": claim.spec["resources"]["requests"]["storage"]}
    if size_of(volume) < size(claim):
        yield Patch(volume, {"spec": {"capacity": wanted}})
    yield Patch(claim, {"capacity": wanted}, status=True)
    yield tell(claim, "VolumeResizeSuccessful", "Resize volume succeeded")
