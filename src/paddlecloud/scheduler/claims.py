"""Volume claims of a pod: what is bound must be reachable from the node, what waits for the pod follows it.

A claim of a class that waits for its first consumer is settled here: a volume that is there, or the node
on which one shall be made. Pure; whoever carries it out writes both on the claim or the volume before
the pod is bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..api.core import Node, PersistentVolume, PersistentVolumeClaim, Pod
from ..api.meta import Key
from ..api.scheduling import StorageClass
from .quantities import amount
from .selectors import hold, label_selector, node_terms

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
NOT_THERE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


@dataclass(frozen=True)
class Storage:
    """All that is known of volumes."""

    claims: Mapping[Key, PersistentVolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)


class Choice(NamedTuple):
    """Where a claim that waited for its pod goes."""

    claim: Key
    node: str
    volume: str = ""
    """Empty: one is to be made on the node."""
    told: bool = False
    """The claim says so already; its volume is on the way."""


class Wanted(NamedTuple):
    bound: tuple[PersistentVolumeClaim, ...] = ()
    delayed: tuple[PersistentVolumeClaim, ...] = ()
    obstacle: str = ""
    """Why no node will do before the claims have changed."""
    single_user: tuple[Key, ...] = ()
    """Claims that only one pod of the cluster may use."""


def wanted(pod: Pod, names: Iterable[str], storage: Storage) -> Wanted:
    bound, delayed, immediate, single = [], [], False, []
    ephemeral = {f"{pod.name}-{v['name']}" for v in pod.spec.get("volumes") or () if v.get("ephemeral")}
    for name in names:
        claim = storage.claims.get(Key(pod.namespace, name))
        if problem := obstacle(name, claim, name in ephemeral) if claim is None else trouble(claim):
            return Wanted(obstacle=problem)
        assert claim is not None
        if name in ephemeral and claim.controlled_by() != pod.uid:
            problem = f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"
            return Wanted(obstacle=problem)
        if "ReadWriteOncePod" in (claim.spec.get("accessModes") or ()):
            single.append(claim.key)
        if is_bound(claim):
            bound.append(claim)
        elif waits(claim, storage) and not claim.spec.get("volumeName"):
            delayed.append(claim)
        else:
            immediate = True
    if immediate:
        return Wanted(obstacle="pod has unbound immediate PersistentVolumeClaims")
    return Wanted(tuple(bound), tuple(delayed), single_user=tuple(single))


def obstacle(name: str, claim: None, ephemeral: bool) -> str:
    if ephemeral:
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
    return f'persistentvolumeclaim "{name}" not found'


def trouble(claim: PersistentVolumeClaim) -> str:
    if claim.status.get("phase") == "Lost":
        volume = claim.spec.get("volumeName") or ""
        return f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{volume}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{claim.name}" is being deleted'
    return ""


def is_bound(claim: PersistentVolumeClaim) -> bool:
    completed = claim.bound or BIND_COMPLETED in claim.metadata.annotations
    return bool(claim.spec.get("volumeName")) and completed


def waits(claim: PersistentVolumeClaim, storage: Storage) -> bool:
    """Whether the claim is bound only once a pod needs it."""
    found = storage.classes.get(class_of(claim))
    return found is not None and found.volume_binding_mode == "WaitForFirstConsumer"


def class_of(obj: PersistentVolumeClaim | PersistentVolume) -> str:
    return str(obj.spec.get("storageClassName") or "")


def on_node(
    found: Wanted, node: Node, storage: Storage, taken: Collection[str]
) -> tuple[tuple[str, ...], tuple[Choice, ...]]:
    """Why the claims keep the pod from the node, or what becomes of those that waited.

    *taken* are volumes that were given to others a moment ago.
    """
    reasons: list[str] = []
    for claim in found.bound:
        volume = storage.volumes.get(claim.spec["volumeName"])
        if volume is None:
            reasons.append(NOT_THERE)
            break
        if not reachable(volume, node):
            reasons.append(ELSEWHERE)
            break
    choices = settle(found.delayed, node, storage, taken)
    if choices is None:
        reasons.append(NO_VOLUME)
    # In the order of Kubernetes, which says of two troubles the volume that is elsewhere first.
    return tuple(sorted(reasons, key=(ELSEWHERE, NO_VOLUME, NOT_THERE).index)), choices or ()


def settle(
    claims: Iterable[PersistentVolumeClaim], node: Node, storage: Storage, taken: Collection[str]
) -> tuple[Choice, ...] | None:
    chosen: list[Choice] = []
    gone = set(taken)
    for claim in sorted(claims, key=size):
        selected = claim.metadata.annotations.get(SELECTED_NODE)
        if selected is not None:
            if selected != node.name or not can_be_made(claim, node, storage):
                return None
            chosen.append(Choice(claim.key, node.name, told=True))
        elif volume := smallest(claim, node, storage, gone):
            gone.add(volume.name)
            chosen.append(Choice(claim.key, node.name, volume.name, told=is_for(volume, claim)))
        elif can_be_made(claim, node, storage):
            chosen.append(Choice(claim.key, node.name))
        else:
            return None
    return tuple(chosen)


def can_be_made(claim: PersistentVolumeClaim, node: Node, storage: Storage) -> bool:
    found = storage.classes.get(class_of(claim))
    if found is None or found.provisioner in ("", NO_PROVISIONER):
        return False
    labels = node.metadata.labels
    return not found.allowed_topologies or any(
        all(labels.get(e["key"]) in e["values"] for e in term.get("matchLabelExpressions") or ())
        for term in found.allowed_topologies
    )


def smallest(
    claim: PersistentVolumeClaim, node: Node, storage: Storage, taken: Collection[str]
) -> PersistentVolume | None:
    """The volume promised to the claim, else the smallest free one that will do."""
    fitting = []
    for volume in storage.volumes.values():
        if volume.name in taken or not suits(volume, claim):
            continue
        if is_for(volume, claim):
            return volume if reachable(volume, node) else None
        if free(volume, claim) and reachable(volume, node):
            fitting.append(volume)
    return min(fitting, key=lambda v: (size_of(v), v.name), default=None)


def suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    same_mode = (volume.spec.get("volumeMode") or "Filesystem") == (
        claim.spec.get("volumeMode") or "Filesystem"
    )
    return same_mode and volume.metadata.deletion_timestamp is None and size_of(volume) >= size(claim)


def free(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    selector = label_selector(claim.spec.get("selector"))
    return (
        not volume.spec.get("claimRef")
        and volume.status.get("phase") == "Available"
        and (selector is None or hold(selector, volume.metadata.labels))
        and class_of(volume) == class_of(claim)
        and set(claim.spec.get("accessModes") or ()) <= set(volume.spec.get("accessModes") or ())
    )


def is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    ref = volume.spec.get("claimRef") or {}
    named = (ref.get("namespace"), ref.get("name")) == (claim.namespace, claim.name)
    return named and ref.get("uid") in (None, "", claim.uid)


def reachable(volume: PersistentVolume, node: Node) -> bool:
    terms = node_terms((volume.spec.get("nodeAffinity") or {}).get("required"))
    return terms is None or any(term.holds(node.name, node.metadata.labels) for term in terms)


def size(claim: PersistentVolumeClaim) -> int:
    resources = claim.spec.get("resources") or {}
    return amount("storage", (resources.get("requests") or {}).get("storage", 0))


def size_of(volume: PersistentVolume) -> int:
    return amount("storage", (volume.spec.get("capacity") or {}).get("storage", 0))
