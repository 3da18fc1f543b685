"""Local persistent volumes: a claim gets a folder, and the folder goes when the claim is gone.

The decision is pure; `LocalVolumes` makes folders and objects. Order makes it safe to kill anywhere:
the folder before the volume, the volume before the claim is bound to it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...api.core import PersistentVolume, PersistentVolumeClaim
from ...api.meta import Metadata
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import AlreadyExists, NotFound

CLASSES = ("", "hostpath", "task-center")
PROVISIONER = "paddlecloud.org/local"


@dataclass(frozen=True)
class Work:
    provision: tuple[PersistentVolumeClaim, ...] = ()
    bind: tuple[tuple[PersistentVolumeClaim, PersistentVolume], ...] = ()
    reclaim: tuple[PersistentVolume, ...] = ()


def decide(claims: Iterable[PersistentVolumeClaim], volumes: Iterable[PersistentVolume]) -> Work:
    by_name = {v.name: v for v in volumes}
    known = {c.uid for c in claims}
    waiting = [c for c in claims if not c.bound and c.metadata.deletion_timestamp is None]
    named = [(c, by_name[name]) for c in waiting if (name := volume_of(c, by_name)) in by_name]
    dynamic = [
        c for c in waiting if not volume_of(c, by_name) and c.spec.get("storageClassName", "") in CLASSES
    ]
    gone = [
        v
        for v in by_name.values()
        if v.spec.get("persistentVolumeReclaimPolicy") == "Delete"
        and (v.spec.get("claimRef") or {}).get("uid") not in known | {None}
        and v.metadata.annotations.get("pv.kubernetes.io/provisioned-by") == PROVISIONER
    ]
    return Work(tuple(dynamic), tuple(named), tuple(gone))


def volume_of(claim: PersistentVolumeClaim, volumes: dict[str, PersistentVolume]) -> str:
    """The volume a claim asks for by name, or the one that was made for it."""
    made = f"pvc-{claim.uid}"
    return str(claim.spec.get("volumeName") or (made if made in volumes else ""))


class LocalVolumes:
    def __init__(
        self,
        client: Client,
        claims: Informer[PersistentVolumeClaim],
        volumes: Informer[PersistentVolume],
        root: Path,
    ) -> None:
        self._client, self._claims, self._volumes, self._root = client, claims, volumes, root

    async def look(self) -> None:
        work = decide(self._claims.all(), self._volumes.all())
        for claim in work.provision:
            await self._provision(claim)
        for claim, volume in work.bind:
            await self._bind(claim, volume)
        for volume in work.reclaim:
            await self._reclaim(volume)

    async def _provision(self, claim: PersistentVolumeClaim) -> None:
        folder = self._root / f"pvc-{claim.uid}"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            volume = await self._client.create(make_volume(claim, folder))
        except AlreadyExists:
            volume = await self._client.get(PersistentVolume, "", folder.name)
        await self._bind(claim, volume)

    async def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        status = {
            "phase": "Bound",
            "accessModes": claim.spec.get("accessModes") or [],
            "capacity": volume.spec.get("capacity") or {},
        }
        try:
            await self._client.patch(PersistentVolumeClaim, claim.key, {"spec": {"volumeName": volume.name}})
            await self._client.patch_status(PersistentVolumeClaim, claim.key, status)
            await self._client.patch_status(PersistentVolume, volume.key, {"phase": "Bound"})
        except NotFound:
            return  # deleted meanwhile: the next look reclaims

    async def _reclaim(self, volume: PersistentVolume) -> None:
        folder = Path(volume.spec["hostPath"]["path"])
        # Only what was made here, whatever the object says.
        if folder.parent == self._root:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            await self._client.delete(PersistentVolume, volume.key, uid=volume.uid)
        except NotFound:
            return


def make_volume(claim: PersistentVolumeClaim, folder: Path) -> PersistentVolume:
    storage = ((claim.spec.get("resources") or {}).get("requests") or {}).get("storage", "1Gi")
    return PersistentVolume(
        metadata=Metadata(name=folder.name, annotations={"pv.kubernetes.io/provisioned-by": PROVISIONER}),
        spec={
            "capacity": {"storage": storage},
            "accessModes": claim.spec.get("accessModes") or ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": claim.spec.get("storageClassName", ""),
            "hostPath": {"path": str(folder), "type": "DirectoryOrCreate"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": claim.name,
                "namespace": claim.namespace,
                "uid": claim.uid,
            },
        },
    )
