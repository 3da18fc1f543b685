"""The volume of a SampleSet and the claim by which pods mount it; pure.

The volume is called after namespace and name and is kept for one claim from its first moment, so that two
sets never meet and no other claim can take it.
"""

from __future__ import annotations

from typing import Any

from ..api import mountoptions
from ..api.core import PersistentVolume, PersistentVolumeClaim
from ..api.meta import Metadata
from ..api.sampleset import SampleSet
from ..errors import WrongUse
from .dataengines import DRIVER, JUICEFS, named

LABEL, NAMESPACE = "sampleset.paddlepaddle.org/name", "sampleset.paddlepaddle.org/namespace"
CLASS = "paddle-operator"
"""A name that volume and claim share; there is no such StorageClass."""
SIZE = "10Pi"
"""A claim must name a size, and folders have none."""
ROOT = "/var/lib/paddlecloud"
UNLIMITED = 1 << 30
"""MiB of cache where nobody says less: the disk is the limit, and `free-space-ratio`."""


def volume_name(data: SampleSet) -> str:
    return f"{data.namespace}-{data.name}"


def folder(data: SampleSet) -> str:
    """Where a node keeps the set: `data`, the files as users see them, beside what the engine knows."""
    return f"{ROOT}/samplesets/{data.namespace}/{data.name}"


def make_volume(data: SampleSet, engine: str) -> PersistentVolume:
    labels = {LABEL: data.name, NAMESPACE: data.namespace}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": data.name}
    return PersistentVolume(
        metadata=Metadata(name=volume_name(data), labels=labels),
        spec={
            "capacity": {"storage": SIZE},
            "accessModes": ["ReadWriteMany"],
            "volumeMode": "Filesystem",
            "storageClassName": CLASS,
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {**claim, "namespace": data.namespace},
            **(driven(data) if engine == JUICEFS else on_nodes(data)),
        },
    )


def make_claim(data: SampleSet) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(
        metadata=Metadata(name=data.name, namespace=data.namespace, labels={LABEL: data.name}),
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": CLASS,
            "volumeName": volume_name(data),
            "resources": {"requests": {"storage": SIZE}},
        },
    )


def on_nodes(data: SampleSet) -> dict[str, Any]:
    # Never made up: on a node without a copy a pod waits and says so, where an empty folder would lie to it.
    return {"hostPath": {"path": f"{folder(data)}/data", "type": "Directory"}}


def driven(data: SampleSet) -> dict[str, Any]:
    secret = named(data.spec.secret_ref)
    said: dict[str, Any] = {
        "driver": DRIVER,
        "fsType": "juicefs",
        "volumeHandle": volume_name(data),
        "volumeAttributes": {"mountOptions": mount_options(data)},
    }
    if secret:
        said["nodePublishSecretRef"] = {"name": secret, "namespace": data.namespace}
    return {"csi": said}


def mount_options(data: SampleSet) -> str:
    """Options of the mount: ours, then what the user says, then the tiers of the cache.

    Raises `WrongUse` for what no mount could be made with.
    """
    asked = data.spec.csi.juice_fs_mount_options
    limit = sum(level.cache_size or 0 for level in levels(data)) or asked.get("cache-size") or UNLIMITED
    return mountoptions.joined({**asked, "cache-size": limit}, cache_folders(data))


def cache_folders(data: SampleSet) -> list[str]:
    """The folders of a node in which JuiceFS caches the set."""
    tiers = [path for level in levels(data) for path in level.path.split(":") if path]
    if tiers:
        return tiers
    given = str(data.spec.csi.juice_fs_mount_options.get("cache-dir") or "")
    if given:
        # Sets that name the same folder do not share it.
        return [f"{path.rstrip('/')}/{data.namespace}-{data.name}" for path in given.split(":") if path]
    return [f"{ROOT}/cache/{data.namespace}/{data.name}"]


def levels(data: SampleSet) -> list[Any]:
    return list(data.spec.cache.levels) if data.spec.cache else []


def misread_options(data: SampleSet) -> str:
    """What is wrong with the options of the mount; empty when nothing is."""
    try:
        mount_options(data)
    except WrongUse as error:
        return f"{error.message}: {error.next_step}" if error.next_step else error.message
    return ""
