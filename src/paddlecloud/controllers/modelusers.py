"""Who uses a version of a model: aliases and services. It does not go before they let it go; pure.

Kubernetes knows no refusal that looks at other objects, so a deletion waits for them behind a finalizer, and
the version says for whom.
"""

from __future__ import annotations

from ..api.meta import Resource
from ..api.model import Model, ModelVersion
from ..api.paddleservice import ElasticPaddleService, PaddleService
from .conditions import set_conditions, waiting
from .contract import Decision, Note, Ref, Selection, Snapshot

FINALIZER = "hub.paddlepaddle.org/used"
USERS: tuple[type[Resource], ...] = (Model, PaddleService, ElasticPaddleService)


def related_users(version: ModelVersion) -> tuple[Ref | Selection, ...]:
    """Looked at only when a version is to go: services change often, and versions are many."""
    if version.metadata.deletion_timestamp is None:
        return ()
    space = version.namespace
    services = (Selection(PaddleService, space), Selection(ElasticPaddleService, space))
    return (Ref(Model, space, version.spec.model), *services)


def going(version: ModelVersion, seen: Snapshot) -> Decision:
    """Of a version that is being deleted."""
    users = users_of(version, seen)
    if not users:
        return Decision(None, seen.children, finalizers=())
    message = (
        f"it is being deleted, and goes when nobody uses it any more: {', '.join(users)}; "
        "move the alias, change the service or delete it"
    )
    told = set_conditions(version.status.conditions, [waiting("InUse", message)], seen.now)
    return Decision(
        version.status.but(conditions=told),
        seen.children,
        notes=() if told == version.status.conditions else (Note("Warning", "InUse", message),),
        finalizers=(FINALIZER,),
    )


def users_of(version: ModelVersion, seen: Snapshot) -> list[str]:
    living = [r for r in seen.related if r.metadata.deletion_timestamp is None]
    models = [r for r in living if isinstance(r, Model) and r.name == version.spec.model]
    aliases = sorted(a for model in models for a, to in model.status.aliases.items() if to == version.name)
    services = [
        f"service {r.name} ({how})"
        for r in living
        if isinstance(r, PaddleService) and (how := served_as(r, version.name))
    ]
    return [*(f"alias {name}" for name in aliases), *sorted(services)]


def served_as(service: PaddleService, version: str) -> str:
    """How a service uses a version, in a word; empty when it does not."""
    for role, endpoint in (("default", service.status.default), ("canary", service.status.canary)):
        if endpoint and endpoint.model_version == version:
            return role
    for role, wish in (("default", service.spec.default), ("canary", service.spec.canary)):
        if wish and wish.model.partition("@")[2] == version:
            return role
    earlier = (str(r.endpoint.get("model") or "") for r in service.status.releases)
    return "earlier release" if any(m.partition("@")[2] == version for m in earlier) else ""
