"""What is seen around volumes and claims, and the single steps that decisions about them are made of.

A step is one write or one word. Steps of a decision are carried out in order, each on the newest version of
its object: where somebody else was faster, the rest is left to the next look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...api.core import PersistentVolume, PersistentVolumeClaim, Pod
from ...api.meta import Key, Resource
from ...api.scheduling import StorageClass
from ...controllers.contract import Note
from .stamps import stamp

PROVISIONER = "paddlecloud.org/local"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
COMPLETED, BY_CONTROLLER = "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"
Claim = PersistentVolumeClaim
Volume = PersistentVolume


@dataclass(frozen=True)
class Seen:
    claims: Mapping[Key, Claim]
    volumes: Mapping[str, Volume]
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    users: Mapping[Key, tuple[Pod, ...]] = field(default_factory=dict)
    """The pods of a claim, finished ones too: as long as a pod exists it may hold its volumes."""
    now: datetime = datetime.min


@dataclass(frozen=True)
class Patch:
    """A merge patch of the object as it was seen, or of its status."""

    obj: Resource
    patch: Mapping[str, Any]
    status: bool = False


@dataclass(frozen=True)
class Tell:
    obj: Resource
    note: Note


@dataclass(frozen=True)
class Provision:
    """Make a folder and the volume that stands for it."""

    claim: Claim
    storage_class: StorageClass


@dataclass(frozen=True)
class Reclaim:
    """Remove the folder of a volume of ours, and then the volume."""

    volume: Volume


Step = Patch | Tell | Provision | Reclaim


def tell(obj: Resource, reason: str, message: str) -> Tell:
    return Tell(obj, Note("Normal", reason, message))


def warn(obj: Resource, reason: str, message: str) -> Tell:
    return Tell(obj, Note("Warning", reason, message))


def phase(volume: Volume, wanted: str, now: datetime, message: str | None = None) -> list[Step]:
    """The volume says where it stands, once."""
    if volume.status.get("phase") == wanted and (volume.status.get("message") or None) == message:
        return []
    status = {"phase": wanted, "message": message, "lastPhaseTransitionTime": stamp(now)}
    return [Patch(volume, status, status=True)]


def pending(claim: Claim, wanted: str = "Pending") -> list[Step]:
    """The claim has no volume: it says so, and nothing of one."""
    if claim.status.get("phase") == wanted and not claim.status.get("capacity"):
        return []
    return [Patch(claim, {"phase": wanted, "accessModes": None, "capacity": None}, status=True)]
