"""The claims of a StatefulSet's pods: made once, kept for the pod of the same number, owned by nobody.

`persistentVolumeClaimRetentionPolicy` gives them an owner, and with it an end: the set, or the pod that
is taken away when the set shrinks. Pure.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ...api.core import PersistentVolumeClaim, Pod, StatefulSet
from ...api.meta import Metadata, Resource
from ...controllers.contract import Update
from .statefulpods import claim_name, ordinals

Claims = Mapping[str, PersistentVolumeClaim]


def missing(group: StatefulSet, number: int, there: Claims) -> tuple[PersistentVolumeClaim, ...]:
    """The claims that the pod of a number needs and that are not there."""
    templates = group.spec.get("volumeClaimTemplates") or ()
    return tuple(make_claim(group, t, number) for t in templates if claim_name(group, t, number) not in there)


def leaving(group: StatefulSet, number: int, there: Claims) -> bool:
    """Whether a claim of the number is on its way out: its pod must wait for a fresh one."""
    return any(c.metadata.deletion_timestamp is not None for c in claims_of(group, number, there))


def claims_of(group: StatefulSet, number: int, there: Claims) -> tuple[PersistentVolumeClaim, ...]:
    names = (claim_name(group, t, number) for t in group.spec.get("volumeClaimTemplates") or ())
    return tuple(there[name] for name in names if name in there)


def make_claim(group: StatefulSet, template: dict[str, Any], number: int) -> PersistentVolumeClaim:
    given = template.get("metadata") or {}
    labels = {**(given.get("labels") or {}), **((group.spec.get("selector") or {}).get("matchLabels") or {})}
    return PersistentVolumeClaim(
        metadata=Metadata(
            name=claim_name(group, template, number),
            namespace=group.namespace,
            labels=labels,
            annotations=given.get("annotations") or {},
        ),
        spec=copy.deepcopy(template.get("spec") or {}),
    )


def entrusted(group: StatefulSet, pod: Pod, number: int, there: Claims) -> tuple[Update, ...]:
    """The changes of owners that the policy asks for, for the claims of one pod."""
    policy = group.spec.get("persistentVolumeClaimRetentionPolicy") or {}
    owner: Resource | None = None
    if policy.get("whenScaled") == "Delete" and number not in ordinals(group):
        owner = pod
    elif policy.get("whenDeleted") == "Delete":
        owner = group
    changes = []
    for claim in claims_of(group, number, there):
        ours = {group.uid, pod.uid}
        have = [r.wire() for r in claim.metadata.owner_references]
        kept = [
            r
            for r in have
            if r.get("uid") not in ours and not (r.get("kind") == "Pod" and r.get("name") == pod.name)
        ]
        mine = [r for r in have if r not in kept]
        if [r.get("uid") for r in mine] != ([owner.uid] if owner else []):
            wanted = kept + ([reference(owner)] if owner else [])
            changes.append(Update(claim, {"metadata": {"ownerReferences": wanted or None}}))
    return tuple(changes)


def reference(owner: Resource) -> dict[str, Any]:
    named = {"name": owner.name, "uid": owner.uid}
    found = {"apiVersion": owner.api_version, "kind": owner.kind, **named}
    return {**found, "controller": True} if isinstance(owner, StatefulSet) else found
