"""Claims that live as long as one pod: made from the template in its volume; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...api.core import PersistentVolumeClaim, Pod
from ...api.meta import Key, Metadata, OwnerReference


def claim_names(pod: Pod) -> list[str]:
    """The claims a pod uses, its own ones too."""
    names = []
    for volume in pod.spec.get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            names.append(str(volume["persistentVolumeClaim"]["claimName"]))
        elif "ephemeral" in volume:
            names.append(own_name(pod, volume))
    return names


def own_name(pod: Pod, volume: Mapping[str, Any]) -> str:
    return f"{pod.name}-{volume['name']}"


def wanted_claims(
    pod: Pod, there: Mapping[Key, PersistentVolumeClaim]
) -> Iterator[tuple[PersistentVolumeClaim | None, str]]:
    """The claims *pod* lacks, or why one of that name will not do."""
    if pod.metadata.deletion_timestamp is not None:
        return
    for volume in pod.spec.get("volumes") or ():
        if "ephemeral" not in volume:
            continue
        name = own_name(pod, volume)
        found = there.get(Key(pod.namespace, name))
        if found is None:
            yield make_claim(pod, name, volume["ephemeral"]["volumeClaimTemplate"]), ""
        elif found.controlled_by() != pod.uid:
            why = f"PVC {found.key} was not created for pod {pod.key} (pod is not owner)"
            yield None, f"ephemeral volume {volume['name']}: {why}"


def make_claim(pod: Pod, name: str, template: Mapping[str, Any]) -> PersistentVolumeClaim:
    said = template.get("metadata") or {}
    owner = OwnerReference(
        api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True, block_owner_deletion=True
    )
    return PersistentVolumeClaim(
        metadata=Metadata(
            name=name,
            namespace=pod.namespace,
            labels=said.get("labels") or {},
            annotations=said.get("annotations") or {},
            owner_references=[owner],
        ),
        spec=template["spec"],
    )
