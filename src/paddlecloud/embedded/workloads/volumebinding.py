"""Decides which volume a claim gets and what it hears while it has none; pure.

The volume is given to the claim before the claim is given to the volume, so that a crash in between leaves a
volume that waits for its claim and never two claims with one volume. A claim whose binding was completed once
is never bound to anything else: without its volume it is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ...api.core import Pod
from ...scheduler.claims import SELECTED_NODE, class_of, free, is_for, size, size_of, suits
from .volumeproviding import ASKED, grow, provide
from .volumesteps import (
    BY_CONTROLLER,
    COMPLETED,
    PROVISIONED_BY,
    PROVISIONER,
    Claim,
    Patch,
    Seen,
    Step,
    Volume,
    pending,
    phase,
    tell,
    warn,
)

NOTHING_FREE = "no persistent volumes available for this claim and no storage class is set"
DEFAULT = "storageclass.kubernetes.io/is-default-class"


def claim_steps(claim: Claim, seen: Seen, taken: Collection[str]) -> list[Step]:
    """What is to be done for *claim*; *taken* are volumes that others get in this very look."""
    if COMPLETED in claim.metadata.annotations:
        return list(keep(claim, seen))
    if claim.metadata.deletion_timestamp is not None:
        return []
    name = claim.spec.get("volumeName")
    return list(ask_for(claim, str(name), seen) if name else search(claim, seen, taken))


def search(claim: Claim, seen: Seen, taken: Collection[str]) -> Iterator[Step]:
    """The best free volume, or whoever makes one, or patience."""
    waits = delayed(claim, seen)
    volume = best(claim, (v for v in seen.volumes.values() if v.name not in taken), waits)
    if volume is not None:
        yield from bind(volume, claim, seen)
        return
    if "storageClassName" not in claim.spec and (default := default_class(seen)):
        yield Patch(claim, {"spec": {"storageClassName": default}})
    elif waits and SELECTED_NODE not in claim.metadata.annotations:
        yield waiting(claim, seen)
        yield from pending(claim)
    elif class_of(claim):
        yield from provide(claim, seen)
    else:
        yield tell(claim, "FailedBinding", NOTHING_FREE)
        yield from pending(claim)


def best(claim: Claim, volumes: Iterable[Volume], waits: bool) -> Volume | None:
    """The volume kept for the claim, else the smallest that is free; few ways of access before many.

    A claim that waits for its pod gets only what was promised to it: the pod's node decides.
    """
    fitting = [
        (len(set(modes)), not is_for(v, claim), size_of(v), v.name, v)
        for v in volumes
        if set(claim.spec.get("accessModes") or ()) <= set(modes := v.spec.get("accessModes") or ())
        and suits(v, claim)
        and (is_for(v, claim) or (not waits and free(v, claim)))
    ]
    return min(fitting, default=(None,))[-1]


def ask_for(claim: Claim, name: str, seen: Seen) -> Iterator[Step]:
    """The volume that was asked for by name, if it can be had."""
    volume = seen.volumes.get(name)
    if volume is not None and is_for(volume, claim):
        yield from bind(volume, claim, seen)
        return
    if volume is not None and volume.spec.get("claimRef"):
        yield warn(claim, "FailedBinding", f'volume "{name}" already bound to a different claim.')
    elif volume is not None:
        why = mismatch(volume, claim)
        if not why:
            yield from bind(volume, claim, seen)
            return
        yield warn(claim, "VolumeMismatch", f'Cannot bind to requested volume "{name}": {why}')
    yield from pending(claim)


def mismatch(volume: Volume, claim: Claim) -> str:
    if volume.metadata.deletion_timestamp is not None:
        return f'the volume is marked for deletion "{volume.name}"'
    if size_of(volume) < size(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if not suits(volume, claim):
        return "incompatible volumeMode"
    if not set(claim.spec.get("accessModes") or ()) <= set(volume.spec.get("accessModes") or ()):
        return "incompatible accessMode"
    return ""


def keep(claim: Claim, seen: Seen) -> Iterator[Step]:
    """A claim that had its volume has it still, or is lost."""
    name = claim.spec.get("volumeName")
    volume = seen.volumes.get(str(name)) if name else None
    lost = ""
    if not name:
        reason, lost = (
            "ClaimLost",
            "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!",
        )
    elif volume is None:
        reason, lost = "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
    elif (volume.spec.get("claimRef") or {}).get("uid") not in (None, "", claim.uid):
        reason = "ClaimMisbound"
        lost = "Two claims are bound to the same volume, this one is bound incorrectly"
    if lost:
        if claim.status.get("phase") != "Lost":
            yield from pending(claim, "Lost")
            yield warn(claim, reason, lost)
        return
    assert volume is not None
    yield from bind(volume, claim, seen)
    yield from grow(claim, volume)


def bind(volume: Volume, claim: Claim, seen: Seen) -> Iterator[Step]:
    """What is missing until both say that they belong together."""
    annotations = {} if is_for(volume, claim) else {BY_CONTROLLER: "yes"}
    if (volume.spec.get("claimRef") or {}).get("uid") != claim.uid:
        reference = {**claim.reference(), "resourceVersion": claim.metadata.resource_version}
        metadata = {"metadata": {"annotations": annotations}} if annotations else {}
        yield Patch(volume, {"spec": {"claimRef": reference}, **metadata})
    yield from phase(volume, "Bound", seen.now)
    wanted = {COMPLETED: "yes"} | ({} if claim.spec.get("volumeName") else {BY_CONTROLLER: "yes"})
    wanted |= asked_of(volume, claim)
    missing = {k: v for k, v in wanted.items() if claim.metadata.annotations.get(k) != v}
    if missing or not claim.spec.get("volumeName"):
        change = {"metadata": {"annotations": missing}, "spec": {"volumeName": volume.name}}
        yield Patch(claim, change)
    status: dict[str, Any] = {"phase": "Bound", "accessModes": volume.spec.get("accessModes") or []}
    # What was there before a growth is told until the growth is done.
    if claim.status.get("phase") != "Bound" or not claim.status.get("capacity"):
        status["capacity"] = volume.spec.get("capacity") or {}
    if any(claim.status.get(key) != value for key, value in status.items()):
        yield Patch(claim, status, status=True)


def asked_of(volume: Volume, claim: Claim) -> dict[str, str]:
    """Who made the volume: what a provisioner of another cluster would have been asked by."""
    ours = volume.metadata.annotations.get(PROVISIONED_BY) == PROVISIONER
    return dict.fromkeys(ASKED, PROVISIONER) if ours and COMPLETED not in claim.metadata.annotations else {}


def delayed(claim: Claim, seen: Seen) -> bool:
    found = seen.classes.get(class_of(claim))
    return found is not None and found.volume_binding_mode == "WaitForFirstConsumer"


def default_class(seen: Seen) -> str:
    """The newest of the classes that are marked."""
    marked = [c for c in seen.classes.values() if c.metadata.annotations.get(DEFAULT) == "true"]
    return max(marked, key=lambda c: (str(c.metadata.creation_timestamp), c.name)).name if marked else ""


def waiting(claim: Claim, seen: Seen) -> Step:
    pods = sorted(pod.name for pod in seen.users.get(claim.key, ()) if unplaced(pod))
    if not pods:
        words = "waiting for first consumer to be created before binding"
        return tell(claim, "WaitForFirstConsumer", words)
    several = "pods" if len(pods) > 1 else "pod"
    return tell(claim, "WaitForPodScheduled", f"waiting for {several} {','.join(pods)} to be scheduled")


def unplaced(pod: Pod) -> bool:
    return not pod.node and not pod.finished
