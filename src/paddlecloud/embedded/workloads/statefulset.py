"""StatefulSet: pods with numbers, made upwards, taken away downwards, renewed downwards; pure.

In order, one pod moves at a time, and only while all before it are well; in parallel, only a renewal is
one at a time. A pod that ended is deleted and made again under its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...api.apps import ControllerRevision
from ...api.core import PersistentVolumeClaim, Pod, StatefulSet
from ...controllers.contract import Controller, Decision, Deed, Note, Ref, Selection, Snapshot, Update
from . import podstate
from .claiming import claim, orphans
from .selecting import equalities
from .stamps import counted
from .statefulclaims import entrusted, leaving, missing
from .statefulpods import healthy, new_pod, ordinal, ordinals, steady
from .statefulrevisions import Revisions, revision_of, revisions_of


@dataclass
class Steps:
    """What one look decides, gathered in order."""

    made: list[Pod] = field(default_factory=list)
    needs: list[PersistentVolumeClaim] = field(default_factory=list)
    doomed: set[str] = field(default_factory=set)
    changes: list[Update] = field(default_factory=list)


@dataclass(frozen=True)
class Ranks:
    """The set and its pods by number: those it should have, and those beyond, highest first."""

    group: StatefulSet
    places: dict[int, Pod | None]
    beyond: dict[int, Pod]
    claims: dict[str, PersistentVolumeClaim]
    seen: Snapshot

    @property
    def ordered(self) -> bool:
        return bool(self.group.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady")


def reconcile(group: StatefulSet, seen: Snapshot) -> Decision:
    selector = group.spec.get("selector") or {}
    found = claim(group, selector, seen, Pod, lambda pod: ordinal(group, pod.name) is not None)
    revisions = revisions_of(group, seen.owned(ControllerRevision).values(), found.mine)
    ranks = lined_up(group, found.mine, seen)
    steps = Steps()
    moving(ranks, revisions, steps)
    kept = (p for p in (*found.owned, *found.released) if p.uid not in steps.doomed)
    return Decision(
        status_of(ranks, revisions),
        (*revisions.kept, *kept, *steps.made),
        needs=tuple(steps.needs),
        changes=(*found.changes, *steps.changes),
        check_again=next_steady(ranks),
    )


def lined_up(group: StatefulSet, pods: tuple[Pod, ...], seen: Snapshot) -> Ranks:
    numbered = {n: p for p in pods if (n := ordinal(group, p.name)) is not None}
    places = {n: numbered.get(n) for n in ordinals(group)}
    beyond = {n: numbered[n] for n in sorted(numbered, reverse=True) if n not in places}
    claims = {c.name: c for c in seen.all(PersistentVolumeClaim) if c.namespace == group.namespace}
    return Ranks(group, places, beyond, claims, seen)


def moving(ranks: Ranks, revisions: Revisions, steps: Steps) -> None:
    """Fill the places, take away what is beyond, renew; in order, the first that waits holds all."""
    for number in ranks.places:
        if fill(ranks, number, revisions, steps) and ranks.ordered:
            return
    first = first_unhealthy(ranks)
    for number, pod in ranks.beyond.items():
        if shed(ranks, number, pod, steps, first) and ranks.ordered:
            return
    if not steps.made and not steps.doomed:
        renew(ranks, revisions, steps)


def fill(ranks: Ranks, number: int, revisions: Revisions, steps: Steps) -> bool:
    """See to one place; whether it must be waited for."""
    group, pod = ranks.group, ranks.places[number]
    if pod is None:
        if not leaving(group, number, ranks.claims):
            steps.needs += missing(group, number, ranks.claims)
            steps.made.append(new_pod(group, number, revisions))
        return True
    if pod.finished:
        steps.doomed.add(pod.uid)
        return True
    if pod.phase == "Pending" and not podstate.terminating(pod):
        steps.needs += missing(group, number, ranks.claims)
    if not steady(pod, group, ranks.seen.now):
        return True
    steps.changes += entrusted(group, pod, number, ranks.claims)
    return False


def shed(ranks: Ranks, number: int, pod: Pod, steps: Steps, first: Pod | None) -> bool:
    """Take away one pod beyond the places; whether it must be waited for."""
    if changes := entrusted(ranks.group, pod, number, ranks.claims):
        # Its claims must know their end before it goes.
        steps.changes += changes
        return True
    if podstate.terminating(pod):
        return True
    if ranks.ordered and pod is not first and not steady(pod, ranks.group, ranks.seen.now):
        return True
    steps.doomed.add(pod.uid)
    return True


def first_unhealthy(ranks: Ranks) -> Pod | None:
    """The lowest pod that is not well: it may go, the others wait for it."""
    lowest = (*ranks.places.values(), *reversed(ranks.beyond.values()))
    return next((p for p in lowest if p is not None and not healthy(p)), None)


def renew(ranks: Ranks, revisions: Revisions, steps: Steps) -> None:
    """Delete the highest pod of an old revision, once those above it are well."""
    strategy = ranks.group.spec.get("updateStrategy") or {}
    if strategy.get("type", "RollingUpdate") == "OnDelete":
        return
    held = ordinals(ranks.group).start + int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    for number in sorted((n for n in ranks.places if n >= held), reverse=True):
        pod = ranks.places[number]
        if pod is not None and revision_of(pod) != revisions.update.name and not podstate.terminating(pod):
            steps.doomed.add(pod.uid)
            return
        if not healthy(pod):
            return


def status_of(ranks: Ranks, revisions: Revisions) -> dict[str, Any]:
    group, now = ranks.group, ranks.seen.now
    pods = [p for p in (*ranks.places.values(), *ranks.beyond.values()) if p is not None]
    living = [p for p in pods if not podstate.terminating(p)]
    wanted, least = len(ranks.places), int(group.spec.get("minReadySeconds") or 0)
    ready = [p for p in pods if p.phase == "Running" and podstate.ready(p)]
    updated = sum(revision_of(p) == revisions.update.name for p in living)
    current, came_from = sum(revision_of(p) == revisions.current.name for p in living), revisions.current.name
    rolling = (group.spec.get("updateStrategy") or {}).get("type", "RollingUpdate") == "RollingUpdate"
    if rolling and updated == len(pods) == len(ready) == wanted:
        current, came_from = updated, revisions.update.name
    status = {
        "observedGeneration": group.metadata.generation,
        "replicas": len(pods),
        "readyReplicas": len(ready),
        "availableReplicas": sum(podstate.available(p, least, now) for p in ready),
        "currentReplicas": current,
        "updatedReplicas": updated,
        "currentRevision": came_from,
        "updateRevision": revisions.update.name,
        "collisionCount": group.status.get("collisionCount") or 0,
    }
    return counted(status, always=("replicas", "availableReplicas", "collisionCount"))


def next_steady(ranks: Ranks) -> float | None:
    least = int(ranks.group.spec.get("minReadySeconds") or 0)
    pods = (p for p in (*ranks.places.values(), *ranks.beyond.values()) if p is not None and healthy(p))
    waits = (podstate.available_in(p, least, ranks.seen.now) for p in pods)
    return min((w for w in waits if w), default=None)


def related(group: StatefulSet) -> tuple[Ref | Selection, ...]:
    selector = group.spec.get("selector") or {}
    claims = Selection(PersistentVolumeClaim, group.namespace, equalities(selector))
    return (orphans(group, Pod, selector), *((claims,) if group.spec.get("volumeClaimTemplates") else ()))


def tell(deed: Deed) -> Note | None:
    """Of pods and claims that were made, of pods that go, and of what was refused."""
    child = deed.child
    owner = deed.owner
    if isinstance(child, PersistentVolumeClaim):
        pod = f"{owner}-{child.name.rpartition('-')[2]}"
        what = f"Claim {child.name} for Pod {pod} in StatefulSet {owner}"
        done = f"create Claim {child.name} Pod {pod} in StatefulSet {owner} success"
    elif isinstance(child, Pod):
        what = f"Pod {child.name} in StatefulSet {owner}"
        done = f"{deed.verb.removesuffix('d')} {what} successful"
    else:
        return None
    verb = deed.verb.removesuffix("d")
    if deed.refusal:
        return Note("Warning", f"Failed{verb.title()}", f"{verb} {what} failed error: {deed.refusal}")
    return None if deed.verb == "updated" else Note("Normal", f"Successful{verb.title()}", done)


CONTROLLER = Controller(
    "statefulset",
    StatefulSet,
    reconcile,
    owns=(Pod, ControllerRevision),
    reads=(Pod, PersistentVolumeClaim),
    related=related,
    tells=tell,
    component="statefulset-controller",
)
