"""Deployment: from one template to the next by ReplicaSets, one safe step a look; pure.

`rollout` says how large each set may be, `history` which set holds what, `rolloutstatus` what is told.
"""

from __future__ import annotations

from typing import Any

from ...api.apps import Deployment, ReplicaSet
from ...api.core import Pod
from ...controllers.contract import Controller, Decision, Deed, Note, Ref, Selection, Snapshot, Update
from .claiming import Claim, anything, claim, orphans
from .history import REVISION, begun, beyond_history, current_set, numbered, sized
from .rollout import Fleet, Step, age, recreate, rescale, resized, roll, rolling
from .rolloutstatus import complete, has_deadline, next_look, pausing, status_of, told
from .selecting import equalities


def reconcile(deployment: Deployment, seen: Snapshot) -> Decision:
    selector = deployment.spec.get("selector") or {}
    if not (selector.get("matchLabels") or selector.get("matchExpressions")):
        return selecting_all(deployment, seen)
    found = claim(deployment, selector, seen, ReplicaSet, anything)
    groups = sorted(found.mine, key=age)
    current = current_set(deployment, groups)
    fleet = Fleet(deployment, current, tuple(g for g in groups if g is not current))
    step = next_step(fleet, seen)
    wanted = carried_out(fleet, step)
    fresh = next((g for g in wanted.values() if not g.uid), None)
    status = status_of(
        fleet, pausing(deployment) or news(deployment, fresh or current, seen, fresh), seen.now
    )
    return Decision(
        status,
        (*children(found, wanted), *found.released),
        changes=(*found.changes, *renumbered(deployment, wanted, fresh or current)),
        counts_only=only_more_pods(deployment.status, status),
        check_again=next_look(deployment, status, seen.now),
    )


def only_more_pods(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether pods came that are not ready yet, and nothing else is new: that is told when they are."""
    coming = ("replicas", "updatedReplicas", "unavailableReplicas")
    more = all(int(new.get(f) or 0) >= int(old.get(f) or 0) for f in coming)
    return more and old != new and without_any(old, coming) == without_any(new, coming)


def without_any(status: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in status.items() if name not in fields}


def next_step(fleet: Fleet, seen: Snapshot) -> Step:
    if fleet.deployment.spec.get("paused"):
        step = rescale(fleet)
        return Step(step.sizes, marked=step.marked, tidy=True)
    if resized(fleet):
        return rescale(fleet)
    step = roll(fleet) if rolling(fleet.deployment) else recreate(fleet, old_pods_run(fleet, seen))
    return step if complete(fleet.deployment, fleet.deployment.status) else Step(step.sizes, step.begin)


def old_pods_run(fleet: Fleet, seen: Snapshot) -> bool:
    """Whether a pod of an old set is still there, be it on its way out."""
    old = {s.uid for s in fleet.old}
    return any(p.controlled_by() in old and not p.finished for p in seen.all(Pod))


def carried_out(fleet: Fleet, step: Step) -> dict[str, ReplicaSet]:
    """The sets as they should be after the step, by name."""
    deployment = fleet.deployment
    gone = beyond_history(deployment, fleet.old) if step.tidy else set()
    wanted = {}
    for group in fleet.all:
        if group.name in gone:
            continue
        size = step.sizes.get(group.name, group.replicas)
        if group is fleet.current:
            group = with_readiness(numbered(group, deployment, fleet.old), deployment)
        marked = step.marked and group.replicas > 0
        wanted[group.name] = sized(group, deployment, size) if marked or size != group.replicas else group
    if step.begin is not None:
        made = begun(deployment, fleet.old, step.begin)
        wanted[made.name] = made
    return wanted


def with_readiness(group: ReplicaSet, deployment: Deployment) -> ReplicaSet:
    least = int(deployment.spec.get("minReadySeconds") or 0)
    if int(group.spec.get("minReadySeconds") or 0) == least:
        return group
    return group.but(spec={**group.spec, "minReadySeconds": least})


def children(found: Claim[ReplicaSet], wanted: dict[str, ReplicaSet]) -> tuple[ReplicaSet, ...]:
    """What is ours already, and what is new; an adopted set is changed at the next look."""
    coming = {g.name for g in found.mine} - {g.name for g in found.owned}
    return tuple(g for name, g in wanted.items() if name not in coming)


def renumbered(
    deployment: Deployment, wanted: dict[str, ReplicaSet], current: ReplicaSet | None
) -> tuple[Update, ...]:
    """The Deployment tells the revision of its current set."""
    number = wanted[current.name].metadata.annotations.get(REVISION, "") if current else ""
    if not number or deployment.metadata.annotations.get(REVISION) == number:
        return ()
    return (Update(deployment, {"metadata": {"annotations": {REVISION: number}}}),)


def news(
    deployment: Deployment, group: ReplicaSet | None, seen: Snapshot, fresh: ReplicaSet | None
) -> dict[str, Any] | None:
    """What is to be said of the set of the template beside its counts."""
    if not has_deadline(deployment) or group is None:
        return None
    if fresh is not None and seen.refused:
        message = f'Failed to create new replica set "{group.name}": {seen.refused[0]}'
        return told("Progressing", "False", "ReplicaSetCreateError", message)
    if fresh is not None:
        return told("Progressing", "True", "NewReplicaSetCreated", f'Created new replica set "{group.name}"')
    if not any(c.get("type") == "Progressing" for c in deployment.status.get("conditions") or ()):
        return told("Progressing", "True", "FoundNewReplicaSet", f'Found new replica set "{group.name}"')
    return None


def selecting_all(deployment: Deployment, seen: Snapshot) -> Decision:
    status = {**deployment.status, "observedGeneration": deployment.metadata.generation}
    sentence = "This deployment is selecting all pods. A non-empty selector is required."
    note = Note("Warning", "SelectingAll", sentence)
    return Decision(status, tuple(seen.owned(ReplicaSet).values()), notes=(note,))


def related(deployment: Deployment) -> tuple[Ref | Selection, ...]:
    selector = deployment.spec.get("selector") or {}
    sets = orphans(deployment, ReplicaSet, selector)
    # Only who must wait for the end of old pods looks at pods: they change often.
    pods = () if rolling(deployment) else (Selection(Pod, deployment.namespace, equalities(selector)),)
    return (sets, *pods)


def tell(deed: Deed) -> Note | None:
    """Of a set that was made larger or smaller, or that could not be made."""
    group = deed.child
    assert isinstance(group, ReplicaSet)
    if deed.refusal:
        verb = "create new" if deed.verb == "created" else "update"
        sentence = f'Failed to {verb} replica set "{group.name}": {deed.refusal}'
        return Note("Warning", "ReplicaSetCreateError", sentence)
    before = 0 if deed.verb == "created" else group.replicas
    after = (
        group.replicas if deed.verb == "created" else (deed.patch.get("spec") or {}).get("replicas", before)
    )
    if deed.verb == "deleted" or before == after:
        return None
    way = "up" if after > before else "down"
    return Note(
        "Normal", "ScalingReplicaSet", f"Scaled {way} replica set {group.name} from {before} to {after}"
    )


CONTROLLER = Controller(
    "deployment",
    Deployment,
    reconcile,
    owns=(ReplicaSet,),
    reads=(ReplicaSet, Pod),
    related=related,
    tells=tell,
    component="deployment-controller",
)
