"""Claims, volumes and classes of storage: defaults and refusals; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .rules_pods import one_of
from .schema import Violation

Body = dict[str, Any]
# The fields of a volume that do not say where its data is.
NO_SOURCE = {
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
}  # fmt: skip
MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def complete_claim(claim: Body) -> None:
    claim["spec"].setdefault("volumeMode", "Filesystem")
    claim["status"].setdefault("phase", "Pending")


def check_claim(claim: Body, old: Body | None) -> Iterator[Violation]:
    spec = claim["spec"]
    if not spec.get("accessModes"):
        yield Violation(
            "spec.accessModes", "FieldValueRequired", "Required value: at least 1 access mode is required"
        )
    for mode in spec.get("accessModes") or ():
        yield from one_of(mode, "spec.accessModes", MODES)
    if "storage" not in ((spec.get("resources") or {}).get("requests") or {}):
        yield Violation("spec.resources[storage]", "FieldValueRequired", "Required value")
    if old is not None and settled(spec) != settled(old["spec"]):
        yield Violation(
            "spec",
            "FieldValueForbidden",
            "Forbidden: spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims",
        )


def settled(spec: Body) -> Body:
    """What of a claim never changes; the volume is written into it once."""
    return {
        k: v for k, v in spec.items() if k not in ("resources", "volumeAttributesClassName", "volumeName")
    }


def complete_volume(volume: Body) -> None:
    spec = volume["spec"]
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    if (host := spec.get("hostPath")) is not None:
        host.setdefault("type", "")


def check_volume(volume: Body, _: Body | None) -> Iterator[Violation]:
    spec = volume["spec"]
    if not spec.get("accessModes"):
        yield Violation("spec.accessModes", "FieldValueRequired", "Required value")
    for mode in spec.get("accessModes") or ():
        yield from one_of(mode, "spec.accessModes", MODES)
    if not spec.get("capacity"):
        yield Violation("spec.capacity", "FieldValueRequired", "Required value")
        why = 'Unsupported value: core.ResourceList(nil): supported values: "storage"'
        yield Violation("spec.capacity", "FieldValueNotSupported", why)
    if not set(spec) - NO_SOURCE:
        yield Violation("spec", "FieldValueRequired", "Required value: must specify a volume type")
    reclaim = spec["persistentVolumeReclaimPolicy"]
    yield from one_of(reclaim, "spec.persistentVolumeReclaimPolicy", ("Delete", "Recycle", "Retain"))


def begin_volume(volume: Body) -> None:
    # No controller moves a volume on from Pending here.
    volume["status"].setdefault("phase", "Available")


def complete_class(body: Body) -> None:
    body.setdefault("reclaimPolicy", "Delete")
    body.setdefault("volumeBindingMode", "Immediate")


def check_class(body: Body, old: Body | None) -> Iterator[Violation]:
    if not body["provisioner"]:
        yield Violation("provisioner", "FieldValueRequired", "Required value")
    yield from one_of(body["reclaimPolicy"], "reclaimPolicy", ("Delete", "Retain"))
    yield from one_of(body["volumeBindingMode"], "volumeBindingMode", ("Immediate", "WaitForFirstConsumer"))
    for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if old is not None and body.get(field) != old.get(field):
            why = f"Forbidden: updates to {field} are forbidden."
            yield Violation(field, "FieldValueForbidden", why)


def complete_driver(body: Body) -> None:
    spec = body["spec"]
    for field, value in (
        ("attachRequired", True), ("fsGroupPolicy", "ReadWriteOnceWithFSType"), ("podInfoOnMount", False),
        ("requiresRepublish", False), ("seLinuxMount", False), ("storageCapacity", False),
    ):  # fmt: skip
        spec.setdefault(field, value)
    spec.setdefault("volumeLifecycleModes", ["Persistent"])
