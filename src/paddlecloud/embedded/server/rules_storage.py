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


def begin_claim(claim: Body) -> None:
    protect(claim, "kubernetes.io/pvc-protection")


def begin_volume(volume: Body) -> None:
    volume["status"].setdefault("phase", "Pending")
    protect(volume, "kubernetes.io/pv-protection")


def protect(body: Body, finalizer: str) -> None:
    """What is in use stays; whoever binds claims takes the mark away."""
    there = body["metadata"].get("finalizers") or []
    if finalizer not in there:
        body["metadata"]["finalizers"] = [*there, finalizer]


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
