"""Knative Serving's Service and Route: a template becomes a Revision, traffic goes to those that are ready.

Pure. Traffic moves only when every revision it names is ready; until then it stays where it was, so that a
roll-out takes nothing away. Revisions that nobody names any more stay for a while: going back is then only
a change of traffic.
"""

from __future__ import annotations

import copy
from typing import Any

from ...api.knative import DOMAIN, SERVICE_LABEL, SERVING, KnativeService, Revision, Route
from ...api.meta import Metadata
from ...controllers.contract import Controller, Decision, Ref, Selection, Snapshot

CONFIGURATION, GENERATION = f"{SERVING}/configuration", f"{SERVING}/configurationGeneration"
RESERVE = 3
"""Revisions without traffic that are kept, the newest."""
Body = dict[str, Any]


def reconcile_service(service: KnativeService, seen: Snapshot) -> Decision:
    revisions = seen.owned(Revision)
    newest = make_revision(service)
    current = revisions.get(newest.name)
    refusal = conflict(newest, current)
    is_ready = current is not None and current.ready and not refusal
    latest = newest.name if is_ready else str(service.status.get("latestReadyRevisionName") or "")
    configured = configuration(newest.name, current, refusal)
    traffic, routed = route(service, revisions, latest)
    address = f"{service.name}.{service.namespace}"
    status: Body = {
        "observedGeneration": service.metadata.generation,
        "url": f"http://{address}.{DOMAIN}",
        "address": {"url": f"http://{address}.svc.cluster.local"},
        "latestCreatedRevisionName": str(
            service.status.get("latestCreatedRevisionName") or "" if refusal else newest.name
        ),
        "conditions": [configured, both(configured, routed), routed],
        "traffic": traffic,
    }
    if latest:
        status["latestReadyRevisionName"] = latest
    named = {str(t["revisionName"]) for t in (*traffic, *targets(service, latest)) if t.get("revisionName")}
    kept = keep(revisions, named | {newest.name, latest})
    fresh = () if current is not None else (newest,)
    return Decision({k: v for k, v in status.items() if v}, (*fresh, *kept, make_route(service)))


def make_revision(service: KnativeService) -> Revision:
    template = copy.deepcopy(service.spec.get("template") or {})
    given, generation = template.get("metadata") or {}, service.metadata.generation or 1
    labels = {
        **(given.get("labels") or {}),
        SERVICE_LABEL: service.name,
        CONFIGURATION: service.name,
        GENERATION: str(generation),
    }
    metadata = Metadata(
        name=given.get("name") or f"{service.name}-{generation:05d}",
        namespace=service.namespace,
        labels=labels,
        annotations=given.get("annotations") or {},
    )
    return Revision(metadata=metadata, spec=template.get("spec") or {})


def conflict(wanted: Revision, there: Revision | None) -> str:
    """What Knative says of another template under a name that has one."""
    if there is None or there.spec == wanted.spec:
        return ""
    return f'revisions.{SERVING} "{wanted.name}" already exists'


def configuration(name: str, current: Revision | None, refusal: str) -> Body:
    kind = "ConfigurationsReady"
    if refusal:
        return told(kind, "False", "RevisionFailed", f"Revision creation failed with message: {refusal}.")
    if current is None:
        return told(kind, "Unknown")
    if current.ready:
        return told(kind, "True")
    said = current.condition("Ready")
    if said.get("status") == "False":
        message = f'Revision "{name}" failed with message: {said.get("message", "")}.'
        return told(kind, "False", "RevisionFailed", message)
    return told(kind, "Unknown", str(said.get("reason") or ""), str(said.get("message") or ""))


def targets(service: KnativeService, latest: str) -> list[Body]:
    """The traffic that is asked for, with the names of the revisions it means."""
    asked = service.spec.get("traffic") or [{"latestRevision": True, "percent": 100}]
    return [
        {**target, "revisionName": target.get("revisionName") or latest, "latestRevision": newest(target)}
        for target in asked
    ]


def newest(target: Body) -> bool:
    return not target.get("revisionName")


def route(service: KnativeService, revisions: dict[str, Revision], latest: str) -> tuple[list[Body], Body]:
    """Where requests go, and what is told of that; where they went before while a revision is not ready."""
    asked = targets(service, latest)
    before: list[Body] = service.status.get("traffic") or []
    kind = "RoutesReady"
    for target in asked:
        name = str(target["revisionName"])
        if not name:
            message = f'Configuration "{service.name}" is waiting for a Revision to become ready.'
            return before, told(kind, "Unknown", "RevisionMissing", message)
        revision = revisions.get(name)
        if revision is None:
            coming = name == make_revision(service).name
            message = f'Revision "{name}" referenced in traffic not found.'
            return before, told(kind, "Unknown" if coming else "False", "RevisionMissing", message)
        if not revision.ready:
            failed = revision.condition("Ready").get("status") == "False"
            message = f'Revision "{name}" {"failed to become ready" if failed else "is not yet ready"}.'
            return before, told(kind, "False" if failed else "Unknown", "RevisionMissing", message)
    return [with_address(service, target) for target in asked], told(kind, "True")


def with_address(service: KnativeService, target: Body) -> Body:
    tag = target.get("tag")
    if not tag:
        return target
    return {**target, "url": f"http://{tag}-{service.name}.{service.namespace}.{DOMAIN}"}


def keep(revisions: dict[str, Revision], named: set[str]) -> list[Revision]:
    spare = sorted((r for r in revisions.values() if r.name not in named), key=age, reverse=True)
    return [*(r for r in revisions.values() if r.name in named), *spare[:RESERVE]]


def age(revision: Revision) -> tuple[int, str]:
    number = revision.metadata.labels.get(GENERATION, "")
    return (int(number) if number.isdecimal() else 0, revision.name)


def make_route(service: KnativeService) -> Route:
    asked = service.spec.get("traffic") or [{"latestRevision": True, "percent": 100}]
    metadata = Metadata(name=service.name, namespace=service.namespace, labels={SERVICE_LABEL: service.name})
    return Route(metadata=metadata, spec={"traffic": [{"configurationName": service.name, **t}
                                                      if newest(t) else t for t in asked]})  # fmt: skip


def both(*parts: Body) -> Body:
    """As good as the worst part, in its words."""
    worst = min(parts, key=lambda part: ("False", "Unknown", "True").index(part["status"]))
    return {**worst, "type": "Ready"}


def told(kind: str, status: str, reason: str = "", message: str = "") -> Body:
    return {k: v for k, v in dict(type=kind, status=status, reason=reason, message=message).items() if v}


def reconcile_route(route: Route, seen: Snapshot) -> Decision:
    """A Route of a Service tells what the Service tells of its traffic."""
    service = seen.find(KnativeService, route.name)
    if service is None:
        return Decision(route.status)
    routed = service.condition("RoutesReady") or told("RoutesReady", "Unknown")
    status = {
        "observedGeneration": route.metadata.generation,
        "url": service.status.get("url"),
        "address": service.status.get("address"),
        "traffic": service.status.get("traffic"),
        "conditions": [{**routed, "type": "AllTrafficAssigned"}, {**routed, "type": "Ready"}],
    }
    return Decision({k: v for k, v in status.items() if v})


def service_of(route: Route) -> tuple[Ref | Selection, ...]:
    return (Ref(KnativeService, route.namespace, route.name),)


SERVICES = Controller("knative-service", KnativeService, reconcile_service, owns=(Revision, Route))
ROUTES = Controller(
    "knative-route", Route, reconcile_route, reads=(KnativeService,), related=service_of
)  # fmt: skip
