"""Claims, volumes and classes of storage: what is filled in; pure."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def complete_claim(claim: Body) -> None:
    claim["spec"].setdefault("volumeMode", "Filesystem")
    claim["status"].setdefault("phase", "Pending")


def complete_volume(volume: Body) -> None:
    spec = volume["spec"]
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    if (host := spec.get("hostPath")) is not None:
        host.setdefault("type", "")


def begin_volume(volume: Body) -> None:
    # No controller moves a volume on from Pending here.
    volume["status"].setdefault("phase", "Available")


def complete_class(body: Body) -> None:
    body.setdefault("reclaimPolicy", "Delete")
    body.setdefault("volumeBindingMode", "Immediate")


def complete_driver(body: Body) -> None:
    spec = body["spec"]
    for field, value in (
        ("attachRequired", True), ("fsGroupPolicy", "ReadWriteOnceWithFSType"), ("podInfoOnMount", False),
        ("requiresRepublish", False), ("seLinuxMount", False), ("storageCapacity", False),
    ):  # fmt: skip
        spec.setdefault(field, value)
    spec.setdefault("volumeLifecycleModes", ["Persistent"])
