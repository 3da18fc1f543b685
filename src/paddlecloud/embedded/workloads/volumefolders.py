"""Persistent volumes of a home: one folder each, made before its volume and removed before it.

Only folders that lie directly in the given place and bear the name of their volume are ever removed.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from ...api.core import PersistentVolume, PersistentVolumeClaim
from ...api.meta import Metadata
from ...api.scheduling import StorageClass
from .volumesteps import PROVISIONED_BY, PROVISIONER


def make_folder(root: Path, name: str) -> Path:
    """The folder of a new volume; one that an interrupted attempt left is taken as it is."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    # A container of any user may write there; the home around it is closed to other users.
    folder.chmod(0o777)
    return folder


def remove_folder(root: Path, volume: PersistentVolume) -> str:
    """Remove what the volume holds; an answer says why it is still there."""
    folder = Path((volume.spec.get("hostPath") or {}).get("path") or "")
    if folder != root / volume.name:
        return f"{folder} is not a folder of this cluster; remove it yourself and delete the volume"
    try:
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder, onerror=opened_first)
    except OSError as error:
        return f"cannot remove {error.filename or folder}: {error.strerror}"
    return ""


def opened_first(function: object, path: str, error: object) -> None:
    """Programs leave folders without permissions behind; their owner may open and remove them."""
    for folder in (os.path.dirname(path), path):
        if os.path.isdir(folder) and not os.path.islink(folder):
            os.chmod(folder, stat.S_IRWXU)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def volume_name(claim: PersistentVolumeClaim) -> str:
    return f"pvc-{claim.uid}"


def make_volume(claim: PersistentVolumeClaim, kind: StorageClass, folder: Path) -> PersistentVolume:
    spec = {
        "capacity": {"storage": claim.spec["resources"]["requests"]["storage"]},
        "accessModes": claim.spec.get("accessModes") or ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": kind.reclaim_policy,
        "storageClassName": kind.name,
        "hostPath": {"path": str(folder), "type": "DirectoryOrCreate"},
        "claimRef": claim.reference(),
    }
    metadata = Metadata(name=folder.name, annotations={PROVISIONED_BY: PROVISIONER})
    return PersistentVolume(metadata=metadata, spec=spec)
