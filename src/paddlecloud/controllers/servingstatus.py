"""What is told of a PaddleService: who answers, where, how many, and why something does not; pure.

Ready means that what is asked for now is what answers. A revision that cannot start is told with its own
last words, and with who answers meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..api.knative import DOMAIN, KnativeService, Revision
from ..api.meta import Condition
from ..api.paddlerelease import ReleasePhase, ReleaseStatus
from ..api.paddleservice import (
    EndpointStatus,
    PaddleService,
    PaddleServiceStatus,
    Release,
    Share,
)  # fmt: skip
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Note, Snapshot
from .servingreleases import CANARY, DEFAULT, Answering

TYPES = {DEFAULT: "DefaultEndpointReady", CANARY: "CanaryEndpointReady"}
KEPT = 10
"""Releases that a rollback can go back to."""


@dataclass(frozen=True)
class Sight:
    """One service, as it is and as it should be."""

    inner: KnativeService | None
    revisions: Mapping[str, Revision]
    wanted: Mapping[str, str]
    """The revision that should have each role."""
    now: Answering
    split: list[Share]
    trial_waits: Condition | None = None

    def routed(self) -> bool:
        """Whether requests go where they should."""
        if self.inner is None:
            return False
        told = int(self.inner.status.get("observedGeneration") or 0) >= self.inner.metadata.generation
        there = {
            (t.get("revisionName"), int(t.get("percent") or 0))
            for t in self.inner.status.get("traffic") or ()
        }
        return told and there == {(s.revision_name, s.percent) for s in self.split}

    def reaches(self, role: str) -> bool:
        """Whether requests go to the one that has the role, whatever else is still to be moved."""
        name = getattr(self.now, role)
        targets: list[dict[str, Any]] = (self.inner.status.get("traffic") or []) if self.inner else []
        named = (t for t in targets if (t.get("tag") == CANARY) == (role == CANARY))
        return self.routed() or any(t.get("revisionName") == name for t in named)


def status_of(
    service: PaddleService,
    endpoints: tuple[EndpointStatus, EndpointStatus | None],
    sight: Sight,
    moment: datetime,
) -> PaddleServiceStatus:
    default, canary = endpoints
    running = [sight.revisions[s.revision_name] for s in sight.split if s.revision_name in sight.revisions]
    return PaddleServiceStatus(
        url=url_of(service, sight.inner),
        replicas=sum(int(r.status.get("actualReplicas") or 0) for r in running),
        default=default.but(name=sight.now.default if sight.routed() else default.name),
        canary=canary.but(name=sight.now.canary if sight.routed() else canary.name) if canary else None,
        traffic=sight.split if sight.routed() else service.status.traffic,
        releases=releases(service, default, sight, moment),
        observed_generation=service.metadata.generation,
        conditions=set_conditions(service.status.conditions, conditions(sight), moment),
    )


def status_while_waiting(service: PaddleService, wait: Condition, seen: Snapshot) -> PaddleServiceStatus:
    """All that was known, and what is waited for."""
    told = [condition("Ready", False, wait.reason, wait.message), wait]
    return service.status.but(
        url=url_of(service, seen.owned(KnativeService).get(service.name)),
        observed_generation=service.metadata.generation,
        conditions=set_conditions(service.status.conditions, told, seen.now),
    )


def refused(status: PaddleServiceStatus, seen: Snapshot) -> PaddleServiceStatus:
    """The same, but for a Knative Service that the cluster does not take: nothing will start by itself."""
    if not seen.refused:
        return status
    words = f"the cluster refuses its Knative Service: {seen.refused[0]}"
    told = [condition("Ready", False, "Refused", words), waiting("Refused", words)]
    others = [c for c in status.conditions if c.type not in ("Ready", "Progressing")]
    return status.but(conditions=set_conditions(status.conditions, [*told, *others], seen.now))


def url_of(service: PaddleService, inner: KnativeService | None) -> str:
    """Where it answers: what Knative says, whose domain a cluster may have changed."""
    told = str(inner.status.get("url") or "") if inner else ""
    return told or f"http://{service.name}.{service.namespace}.{DOMAIN}"


def conditions(sight: Sight) -> list[Condition]:
    roles = [endpoint(sight, role) for role in sight.wanted]
    if sight.trial_waits is not None:
        wait = sight.trial_waits
        roles.append(condition(TYPES[CANARY], False, wait.reason, wait.message))
    routes = condition("RoutesReady", sight.routed(), "Routed" if sight.routed() else "Moving")
    every = [*roles, routes]
    failing = next((c for c in every if c.status != "True"), None)
    if failing is None:
        return [condition("Ready", True, "Serving"), *every, progressing("Serving")]
    stuck = sight.trial_waits is not None or any(failed(sight, role) for role in sight.wanted)
    step = waiting if stuck else progressing
    return [
        condition("Ready", False, failing.reason, failing.message),
        *every,
        step(failing.reason, failing.message),
    ]


def endpoint(sight: Sight, role: str) -> Condition:
    """Whether the revision that should have the role has it and can answer."""
    name, has = sight.wanted[role], getattr(sight.now, role)
    revision = sight.revisions.get(name)
    if revision is not None and revision.ready and has == name and sight.reaches(role):
        return condition(TYPES[role], True, "Serving")
    if not failed(sight, role):
        return condition(TYPES[role], False, "Starting", f"revision {name} is starting")
    told = revision.condition("Ready") if revision else {}
    meanwhile = f"; {has} goes on answering" if has and has != name else ""
    message = f"revision {name}: {told.get('message') or 'failed'}{meanwhile}"
    return condition(TYPES[role], False, str(told.get("reason") or "Failed"), message)


def failed(sight: Sight, role: str) -> bool:
    revision = sight.revisions.get(sight.wanted[role])
    return revision is not None and revision.condition("Ready").get("status") == "False"


def releases(
    service: PaddleService, default: EndpointStatus, sight: Sight, moment: datetime
) -> list[Release]:
    """The defaults so far; one more when what is asked for now has come to answer."""
    before, name = service.status.releases, sight.wanted[DEFAULT]
    if endpoint(sight, DEFAULT).status != "True" or (before and before[-1].revision == name):
        return before
    written: dict[str, Any] = service.spec.default.wire()
    if default.model_version:
        written = {**written, "model": f"{default.model.partition('@')[0]}@{default.model_version}"}
    return [*before, Release(revision=name, endpoint=written, at=moment)][-KEPT:]


def news(
    service: PaddleService, status: PaddleServiceStatus, past: Answering, sight: Sight
) -> tuple[Note, ...]:
    """What is worth an event: that it answers, that another one answers, that one cannot start."""
    old = {c.type: c for c in service.status.conditions}
    new = {c.type: c for c in status.conditions}
    told = []
    if new["Ready"].status == "True" and (old.get("Ready") is None or old["Ready"].status != "True"):
        told.append(Note("Normal", "Ready", f"answers at {status.url}"))
    if past.default and past.default != sight.now.default:
        told.append(Note("Normal", "Released", f"{sight.now.default} takes the place of {past.default}"))
    for role in sight.wanted:
        before, now = old.get(TYPES[role]), new[TYPES[role]]
        if failed(sight, role) and (before is None or before.message != now.message):
            told.append(Note("Warning", "RevisionFailed", now.message))
    return tuple(told)


def steps_told(before: ReleaseStatus | None, now: ReleaseStatus | None) -> tuple[Note, ...]:
    """The event of a release that begins, goes on, ends or goes back."""
    if now is None or (
        before and (before.canary, before.phase, before.step) == (now.canary, now.phase, now.step)
    ):
        return ()
    if now.phase is ReleasePhase.ROLLED_BACK:
        return (Note("Warning", "RolledBack", f"{now.canary} gets no more requests: {now.reason}"),)
    if now.phase is ReleasePhase.DONE:
        return (Note("Normal", "ReleaseDone", f"{now.canary} gets all requests: {now.reason}"),)
    why = f": {now.reason}" if now.reason else ""
    return (Note("Normal", "ReleaseStep", f"{now.canary} gets {now.percent} % of the requests{why}"),)
