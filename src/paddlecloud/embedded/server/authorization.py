"""May this user do that: the roles in the store, asked fast, and never an answer older than the last write.

The index is made anew at the first question after a role or binding changed; the store says when one did
before it acknowledges the write, so that a revocation acts at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from ...errors import Forbidden, NotFound
from ..store import Entry, Place, Store
from .escalation import missing, shown
from .paths import Target
from .rbac import (
    BINDINGS,
    CLUSTER_BINDINGS,
    CLUSTER_ROLES,
    GROUP,
    MASTERS,
    RESOURCES,
    ROLES,
    Attributes,
    Grants,
    Parsed,
    Scope,
    rule_of,
)
from .users import User

Body = dict[str, Any]
EVERYTHING: tuple[Body, ...] = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
ON_OBJECT = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
ON_COLLECTION = {"get": "list", "delete": "deletecollection"}


class Authorizer:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._grants: Grants | None = None
        self._built_at: tuple[int, ...] = ()
        self._parsed: dict[Place, tuple[Entry, Any]] = {}

    def grants(self) -> Grants:
        """What roles and bindings say now: whoever was told that one is written may rely on it at once."""
        at = tuple([self._store.changed.get(resource, 0) for resource in RESOURCES])
        if self._grants is None or at != self._built_at:
            self._grants, self._built_at = self._built(), at
        return self._grants

    def scope(self, user: User, namespace: str) -> Scope:
        return self.grants().scope(user.name, user.groups, namespace)

    def allowed(self, user: User, wanted: Attributes) -> bool:
        return MASTERS in user.groups or self.scope(user, wanted.namespace).allows(wanted)

    def demand(self, user: User, wanted: Attributes) -> None:
        """Raises `Forbidden` in Kubernetes' words."""
        if not self.allowed(user, wanted):
            raise forbidden(user, wanted, self.scope(user, wanted.namespace).reason(wanted))

    def demand_no_escalation(self, user: User, resource: str, new: Body, old: Body | None) -> None:
        """Raises when writing a role or binding would hand out what *user* does not hold."""
        if MASTERS in user.groups or (old is not None and same_but_for_garbage(new, old)):
            return
        metadata = new["metadata"]
        name, namespace = str(metadata.get("name") or ""), str(metadata.get("namespace") or "")
        plural = resource.rpartition("/")[2]
        if resource in (ROLES, CLUSTER_ROLES):
            if self.allowed(user, Attributes("escalate", GROUP, plural, "", namespace, name)):
                return
            if new.get("aggregationRule") and self._lacks(user, "", EVERYTHING):
                raise refused(plural, name, "must have cluster-admin privileges to use the aggregationRule")
            wanted: list[Body] = new.get("rules") or []
        else:
            reference = new.get("roleRef") or {}
            role, kind = str(reference.get("name") or ""), f"{str(reference.get('kind') or '').lower()}s"
            if self.allowed(user, Attributes("bind", GROUP, kind, "", namespace, role)):
                return
            rules = self.grants().rules(namespace, reference)
            if rules is None:
                details = {"name": role, "group": GROUP, "kind": plural}
                raise NotFound(f'{plural}.{GROUP} "{role}" not found', details=details)
            wanted = [dict(body) for _, body in rules]
        if lacking := self._lacks(user, namespace, wanted):
            groups = " ".join(f'"{g}"' for g in user.groups)
            raise refused(
                plural,
                name,
                f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions not '
                "currently held:\n" + "\n".join(shown(rule) for rule in lacking),
            )

    def _lacks(self, user: User, namespace: str, wanted: Any) -> list[Mapping[str, Any]]:
        return missing((h.rule for h in self.scope(user, namespace).held), wanted)

    def _built(self) -> Grants:
        # Only what changed is parsed again.
        known, self._parsed = self._parsed, {}

        def bodies(resource: str) -> list[Any]:
            found = []
            for entry in self._store.entries(resource):
                kept = known.get(entry.place)
                if kept is None or kept[0] is not entry:
                    body = entry.load()
                    kept = (entry, parsed_role(body) if resource in (ROLES, CLUSTER_ROLES) else body)
                self._parsed[entry.place] = kept
                found.append((entry.place, kept[1]))
            return found

        roles: dict[tuple[str, str], Parsed] = {
            (place.namespace, place.name): rules
            for resource in (CLUSTER_ROLES, ROLES)
            for place, rules in bodies(resource)
        }
        bindings = [body for r in (CLUSTER_BINDINGS, BINDINGS) for _, body in bodies(r)]
        return Grants(roles, bindings)


def parsed_role(body: Body) -> Parsed:
    return tuple((rule_of(rule), rule) for rule in body.get("rules") or ())


def same_but_for_garbage(new: Body, old: Body) -> bool:
    """The collector must be able to let an object go, whatever the object grants."""

    def kept(body: Body) -> Body:
        metadata = {
            k: v
            for k, v in body["metadata"].items()
            if k not in ("ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation")
        }
        return {**body, "metadata": metadata}

    return kept(new) == kept(old)


def attributes_of(method: str, target: Target | None, path: str, request: web.Request) -> Attributes:
    """What a request wants, as rules speak of it."""
    if target is None:
        return Attributes(method.lower(), path=path or "/")
    verb = ON_OBJECT.get(method, method.lower())
    name, namespace = target.name, target.namespace
    if not name:
        verb = ON_COLLECTION.get(verb, verb)
        if request.query_string:
            if verb == "list" and request.query.get("watch", "").lower() in ("true", "1"):
                verb = "watch"
            if verb in ("list", "watch", "deletecollection"):
                name = selected_name(request.query.get("fieldSelector", ""))
    elif target.plural == "namespaces" and not target.group:
        namespace = name  # a namespace is in itself: its admins may look at it
    return Attributes(verb, target.group, target.plural, target.subresource, namespace, name)


def selected_name(field_selector: str) -> str:
    """The one object that a list can be about: who may see it alone may list it."""
    for term in field_selector.split(","):
        field, _, value = term.partition("=")
        if field.strip() == "metadata.name":
            return value.removeprefix("=").strip()
    return ""


def forbidden(user: User, wanted: Attributes, reason: str) -> Forbidden:
    more = f": {reason}" if reason else ""
    if wanted.path:
        return Forbidden(f'forbidden: User "{user.name}" cannot {wanted.verb} path "{wanted.path}"{more}')
    where = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
    details = {"name": wanted.name, "group": wanted.group, "kind": wanted.resource}
    full = f"{wanted.resource}.{wanted.group}" if wanted.group else wanted.resource
    named = f'{full} "{wanted.name}"' if wanted.name else full
    return Forbidden(
        f'{named} is forbidden: User "{user.name}" cannot {wanted.verb} resource "{wanted.whole}" '
        f'in API group "{wanted.group}" {where}{more}',
        details={k: v for k, v in details.items() if v},
    )


def refused(plural: str, name: str, why: str) -> Forbidden:
    return Forbidden(
        f'{plural}.{GROUP} "{name}" is forbidden: {why}',
        details={"name": name, "group": GROUP, "kind": plural},
    )
