"""Decides the Knative Service behind a PaddleService: its template, its traffic, and nothing else.

`model: name@alias` is resolved once and pinned in the status: a service does not change under its users
because an alias moved, unless it was told to `follow`. What answers goes on answering until what takes its
place is ready, whatever is waited for and whatever fails (`servingreleases`).
"""

from __future__ import annotations

from typing import Any

from ..api.knative import MIRROR, SERVICE_LABEL, KnativeService, Revision
from ..api.meta import Condition, Metadata
from ..api.model import Model, ModelVersion
from ..api.paddleservice import ElasticPaddleService, EndpointStatus, PaddleService, PaddleServiceStatus
from .conditions import waiting
from .contract import Controller, Decision, Ref, Selection, Snapshot
from .servinggates import Trial, course, look_again, tally_of
from .servingmodels import resolved
from .servingreleases import (
    CANARY,
    DEFAULT,
    Answering,
    Wanted,
    answering,
    known_templates,
    named,
    next_template,
    shares,
    traffic_block,
)
from .servingstatus import Sight, news, refused, status_of, status_while_waiting, steps_told
from .servingtemplates import template_of

INSTALL = "https://knative.dev/docs/install/yaml-install/serving"


def reconcile(service: PaddleService, seen: Snapshot) -> Decision:
    before = service.status.default or EndpointStatus(), service.status.canary or EndpointStatus()
    default, wait = resolved(DEFAULT, service.spec.default, before, seen)
    wait = name_taken(service, seen) or engine_missing(seen) or wait
    if wait:
        kept = tuple(seen.owned(KnativeService).values())
        return Decision(status_while_waiting(service, wait, seen), kept)
    canary, trial_waits = None, None
    if service.spec.canary is not None:
        canary, trial_waits = resolved(CANARY, service.spec.canary, before[::-1], seen)
    inner = seen.owned(KnativeService).get(service.name)
    revisions = {r.name: r for r in seen.all(Revision)}
    wanted = wanted_revisions(service, (default, None if trial_waits else canary), inner, revisions)
    ready = [name for name, revision in revisions.items() if revision.ready]
    past = who_answers(inner)
    now = answering(past, wanted, ready)
    if trial_waits:
        # The canary there was keeps its share while the next one is waited for.
        now = Answering(now.default, past.canary)
    release = course(service.spec.release, service.status.release, trial_of(wanted, now, revisions), seen.now)
    split = shares(now, release.percent if release else share_meanwhile(service, inner))
    template = next_template(inner, wanted, revisions)
    sight = Sight(inner, revisions, {w.role: w.name for w in wanted}, now, split, trial_waits)
    status = refused(status_of(service, (default, canary), sight, seen.now).but(release=release), seen)
    return Decision(
        status,
        (make_service(service, template, traffic_block(split)),),
        notes=(*news(service, status, past, sight), *steps_told(service.status.release, release)),
        counts_only=same_but_for_counts(service.status, status),
        check_again=look_again(service.spec.release, release, seen.now),
    )


def related(service: PaddleService) -> tuple[Ref | Selection, ...]:
    space = service.namespace
    endpoints = [e for e in (service.spec.default, service.spec.canary) if e and e.model]
    models = tuple(Ref(Model, space, e.model.partition("@")[0]) for e in endpoints)
    versions = (Selection(ModelVersion, space),) if endpoints else ()
    revisions = Selection(Revision, space, ((SERVICE_LABEL, service.name),))
    return (*models, *versions, revisions, Ref(namesake(service), space, service.name))


def controller(name: str, kind: type[PaddleService], other: type[PaddleService]) -> Controller:
    reads = (Model, ModelVersion, Revision, other)
    return Controller(name, kind, reconcile, owns=(KnativeService,), reads=reads, related=related)


CONTROLLER = controller("paddleservice", PaddleService, ElasticPaddleService)
ELASTIC = controller("elasticpaddleservice", ElasticPaddleService, PaddleService)


def namesake(service: PaddleService) -> type[PaddleService]:
    """The other group in which a service may have this name."""
    return PaddleService if isinstance(service, ElasticPaddleService) else ElasticPaddleService


def name_taken(service: PaddleService, seen: Snapshot) -> Condition | None:
    kind = namesake(service)
    other = next((r for r in seen.related if type(r) is kind and r.name == service.name), None)
    if other is None or birth(service) < birth(other):
        return None
    return waiting(
        "NameTaken",
        f"{kind.plural}.{kind.group()}/{service.name} is older and has the address of that name; "
        "delete one of the two, or give it another name",
    )


def birth(service: Any) -> tuple[str, str]:
    stamp = service.metadata.creation_timestamp
    return stamp.isoformat() if stamp else "", service.api_version


def engine_missing(seen: Snapshot) -> Condition | None:
    if KnativeService not in seen.missing:
        return None
    return waiting(
        "EngineMissing", f"this cluster has no Knative Serving, which runs services: install it ({INSTALL})"
    )


def wanted_revisions(
    service: PaddleService,
    endpoints: tuple[EndpointStatus, EndpointStatus | None],
    inner: KnativeService | None,
    revisions: dict[str, Revision],
) -> tuple[Wanted, ...]:
    """The default first."""
    known, default, canary = known_templates(inner, revisions.values()), *endpoints
    body = template_of(service, service.spec.default, default)
    first = named(service.name, DEFAULT, body, known)
    if canary is None or service.spec.canary is None:
        return (first,)
    body = template_of(service, service.spec.canary, canary)
    return first, named(service.name, CANARY, body, known)


def who_answers(inner: KnativeService | None) -> Answering:
    """The roles as the traffic of the Knative Service has them."""
    if inner is None:
        return Answering()
    targets: list[dict[str, Any]] = inner.spec.get("traffic") or []
    trial = next((t for t in targets if t.get("tag") == CANARY), {})
    stable = next((t for t in targets if t.get("tag") != CANARY), {})
    default = stable.get("revisionName") or inner.status.get("latestReadyRevisionName")
    return Answering(str(default or ""), str(trial.get("revisionName") or ""))


def trial_of(wanted: tuple[Wanted, ...], now: Answering, revisions: dict[str, Revision]) -> Trial:
    """The canary that is asked for, once it answers."""
    name = next((w.name for w in wanted if w.role == CANARY), "")
    if not name or name != now.canary or name == now.default:
        return Trial("")
    revision = revisions.get(name)
    said = revision.condition("Ready") if revision else {"status": "False", "message": "it is gone"}
    trouble = str(said.get("message") or "it failed") if said.get("status") == "False" else ""
    return Trial(name, tally_of(revision), trouble)


def share_meanwhile(service: PaddleService, inner: KnativeService | None) -> int | None:
    """The share of a canary outside of a release; one that waits for its successor keeps what it has.

    The first step is its successor's: the one before may have been rolled back.
    """
    if service.spec.release is None or not service.spec.release.steps:
        return service.spec.canary_traffic_percent
    targets: list[dict[str, Any]] = (inner.spec.get("traffic") or []) if inner else []
    return next((int(t.get("percent") or 0) for t in targets if t.get("tag") == CANARY), 0)


def make_service(
    service: PaddleService, template: dict[str, Any], traffic: list[dict[str, Any]]
) -> KnativeService:
    mirrored = service.spec.release.mirror_percent if service.spec.release and service.spec.canary else 0
    return KnativeService(
        metadata=Metadata(
            name=service.name,
            namespace=service.namespace,
            labels=dict(service.metadata.labels),
            annotations={MIRROR: str(mirrored)} if service.spec.release else {},
        ),
        spec={"template": template, "traffic": traffic},
    )


def same_but_for_counts(old: PaddleServiceStatus, new: PaddleServiceStatus) -> bool:
    return old != new and old.but(replicas=new.replicas).wire() == new.wire()
