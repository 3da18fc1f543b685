"""The revisions of a StatefulSet: each template it ever had, as an object of its own; pure.

A pod carries the name of its revision. Two of them matter: the one the set comes from (current) and the
one it goes to (update); they are one when nothing moves.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ...api.apps import ControllerRevision
from ...api.core import Pod, StatefulSet
from ...api.meta import Metadata
from .naming import canonical, fingerprint

LABEL = "controller-revision-hash"
HASH = "controller.kubernetes.io/hash"


@dataclass(frozen=True)
class Revisions:
    current: ControllerRevision
    update: ControllerRevision
    kept: tuple[ControllerRevision, ...]
    """All that should be there, the update among them."""


def revisions_of(group: StatefulSet, known: Iterable[ControllerRevision], pods: Iterable[Pod]) -> Revisions:
    found = sorted(known, key=lambda r: (r.revision, r.name))
    wanted = canonical(data_of(group))
    same = [r for r in found if canonical(r.data) == wanted]
    number = found[-1].revision if found else 0
    if not same:
        update = begun(group, number + 1)
    elif same[-1] is found[-1]:
        update = same[-1]
    else:
        # A template that comes back is the newest again.
        update = same[-1].but(revision=number + 1)
    named = str(group.status.get("currentRevision") or "")
    current = next((r for r in found if r.name == named and r.name != update.name), update)
    rest = [r for r in found if r.name != update.name]
    in_use = {current.name, *(revision_of(p) for p in pods)}
    forgotten = beyond_history(group, rest, in_use)
    return Revisions(current, update, (*(r for r in rest if r.name not in forgotten), update))


def beyond_history(
    group: StatefulSet, rest: list[ControllerRevision], in_use: Collection[str]
) -> Collection[str]:
    """The oldest revisions that nobody uses, as many as are too many."""
    idle = [r.name for r in rest if r.name not in in_use]
    limit = group.spec.get("revisionHistoryLimit")
    return set(idle[: max(0, len(idle) - int(10 if limit is None else limit))])


def begun(group: StatefulSet, number: int) -> ControllerRevision:
    data = data_of(group)
    digest = fingerprint(data)
    labels = ((data["spec"]["template"].get("metadata") or {}).get("labels")) or {}
    return ControllerRevision(
        metadata=Metadata(
            name=f"{group.name}-{digest}", namespace=group.namespace, labels={**labels, HASH: digest}
        ),
        data=data,
        revision=number,
    )


def data_of(group: StatefulSet) -> dict[str, Any]:
    """What a revision keeps: a patch that puts the whole template back."""
    template = copy.deepcopy(group.spec.get("template") or {})
    return {"spec": {"template": {**template, "$patch": "replace"}}}


def template_of(revision: ControllerRevision) -> dict[str, Any]:
    template = (revision.data.get("spec") or {}).get("template") or {}
    return {k: copy.deepcopy(v) for k, v in template.items() if k != "$patch"}


def revision_of(pod: Pod) -> str:
    return pod.metadata.labels.get(LABEL, "")
