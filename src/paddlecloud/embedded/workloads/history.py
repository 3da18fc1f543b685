"""The history of a Deployment: which of its ReplicaSets holds which revision of the template; pure.

A revision is a number in an annotation. A template that comes back gets a new number, and its set keeps
the old ones as history; so a roll-back is nothing but a template that was there before.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ...api.apps import Deployment, ReplicaSet
from ...api.meta import Metadata
from .naming import canonical, fingerprint
from .rollout import DESIRED, MOST, age, bounds

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
HASH = "pod-template-hash"
# A set does not inherit what is said of the Deployment alone.
OWN = {
    REVISION, HISTORY, DESIRED, MOST,
    "kubectl.kubernetes.io/last-applied-configuration", "deprecated.deployment.rollback.to",
}  # fmt: skip
LONGEST_HISTORY = 2000


def current_set(deployment: Deployment, groups: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The oldest set with the template of the Deployment."""
    wanted = bare(deployment.spec.get("template") or {})
    same = [g for g in groups if bare(g.spec.get("template") or {}) == wanted]
    return min(same, key=age, default=None)


def bare(template: dict[str, Any]) -> Any:
    """A template to compare: without the label that tells its set, and without what is empty."""
    metadata = template.get("metadata") or {}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH}
    return canonical({**template, "metadata": {**metadata, "labels": labels}})


def begun(deployment: Deployment, old: Iterable[ReplicaSet], size: int) -> ReplicaSet:
    """The set of a template that has none yet."""
    template = copy.deepcopy(deployment.spec.get("template") or {})
    collisions = deployment.status.get("collisionCount") or 0
    digest = fingerprint(bare(template), salt=f"/{collisions}" if collisions else "")
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = labels = {**(metadata.get("labels") or {}), HASH: digest}
    selector = copy.deepcopy(deployment.spec.get("selector") or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: digest}
    spec: dict[str, Any] = {"replicas": size, "selector": selector, "template": template}
    if least := deployment.spec.get("minReadySeconds"):
        spec["minReadySeconds"] = least
    place = Metadata(name=f"{deployment.name}-{digest}", namespace=deployment.namespace, labels=labels)
    made = ReplicaSet(metadata=place, spec=spec)
    return sized(numbered(made, deployment, old), deployment, size)


def numbered(group: ReplicaSet, deployment: Deployment, old: Iterable[ReplicaSet]) -> ReplicaSet:
    """The current set with the newest number, and with the annotations of its Deployment."""
    newest = 1 + max(map(revision, old), default=0)
    have = group.metadata.annotations
    wanted = {**have, **{k: v for k, v in deployment.metadata.annotations.items() if k not in OWN}}
    before = revision(group)
    if before < newest:
        wanted[REVISION] = str(newest)
        if REVISION in have:
            wanted[HISTORY] = remembered(have.get(HISTORY, ""), have[REVISION])
    return group.but(metadata=group.metadata.but(annotations=wanted))


def remembered(history: str, number: str) -> str:
    """The history with one more number; the oldest are forgotten when it grows too long."""
    numbers = [*filter(None, history.split(",")), number]
    while len(",".join(numbers)) > LONGEST_HISTORY:
        del numbers[0]
    return ",".join(numbers)


def sized(group: ReplicaSet, deployment: Deployment, size: int) -> ReplicaSet:
    """The set at a size, knowing the size of the whole: that is how a later scaling is noticed."""
    whole = deployment.replicas
    marks = {DESIRED: str(whole), MOST: str(whole + bounds(deployment).surge)}
    metadata = group.metadata.but(annotations={**group.metadata.annotations, **marks})
    return group.but(metadata=metadata, spec={**group.spec, "replicas": size})


def revision(group: ReplicaSet) -> int:
    said = group.metadata.annotations.get(REVISION, "")
    return int(said) if said.isdecimal() else 0


def beyond_history(deployment: Deployment, old: Iterable[ReplicaSet]) -> set[str]:
    """The names of the sets that need not be remembered: the oldest, and only those without pods."""
    limit = deployment.spec.get("revisionHistoryLimit")
    alive = [g for g in old if g.metadata.deletion_timestamp is None]
    if limit is None or len(alive) <= int(limit):
        return set()
    oldest = sorted(alive, key=lambda g: (revision(g), age(g)))[: len(alive) - int(limit)]
    return {g.name for g in oldest if empty(g)}


def empty(group: ReplicaSet) -> bool:
    seen = group.counted("observedGeneration") >= group.metadata.generation
    return seen and group.replicas == 0 and group.counted("replicas") == 0
