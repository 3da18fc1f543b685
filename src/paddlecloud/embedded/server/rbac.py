"""What RBAC grants: roles and bindings in, answers out; pure.

`Grants` is an index of one state of the roles and bindings and never changes: when one of them does, a new
one is made, and with it every answer that was remembered is gone. There are no denials: a request is
allowed if one rule of one role bound to its user or to a group of the user allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Body = Mapping[str, Any]
GROUP = "rbac.authorization.k8s.io"
ROLES, CLUSTER_ROLES = f"{GROUP}/roles", f"{GROUP}/clusterroles"
BINDINGS, CLUSTER_BINDINGS = f"{GROUP}/rolebindings", f"{GROUP}/clusterrolebindings"
RESOURCES = (ROLES, CLUSTER_ROLES, BINDINGS, CLUSTER_BINDINGS)
MASTERS = "system:masters"
"""May do everything, whatever the roles say: the way back in when they were spoilt."""


class Attributes(NamedTuple):
    """What somebody wants to do: a verb on a resource, or on a path that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def whole(self) -> str:
        """The resource as rules name it: `pods`, `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Rule:
    verbs: frozenset[str]
    groups: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    urls: tuple[str, ...] = ()

    def covers(self, verb: str, group: str, resource: str) -> bool:
        """Whether the rule speaks of this resource (`pods`, `pods/log`), for some names at least."""
        if not ("*" in self.verbs or verb in self.verbs):
            return False
        if not ("*" in self.groups or group in self.groups):
            return False
        if "*" in self.resources or resource in self.resources:
            return True
        _, slash, subresource = resource.partition("/")
        return bool(slash) and f"*/{subresource}" in self.resources

    def covers_path(self, verb: str, path: str) -> bool:
        if not ("*" in self.verbs or verb in self.verbs):
            return False
        return any(
            url in ("*", path) or (url.endswith("*") and path.startswith(url[:-1])) for url in self.urls
        )


def rule_of(body: Body) -> Rule:
    return Rule(
        frozenset(body.get("verbs") or ()),
        frozenset(body.get("apiGroups") or ()),
        frozenset(body.get("resources") or ()),
        frozenset(body.get("resourceNames") or ()),
        tuple(body.get("nonResourceURLs") or ()),
    )


class Held(NamedTuple):
    """A rule somebody holds, and through which binding."""

    rule: Rule
    body: Body
    why: str


@dataclass
class Scope:
    """Everything one user may do in one place: a namespace, or (empty) the cluster as a whole."""

    held: list[Held]
    problems: list[str]
    """Bindings that grant nothing, because their role does not exist."""
    _known: dict[tuple[str, str, str], frozenset[str] | None] = field(default_factory=dict)

    def allows(self, wanted: Attributes) -> bool:
        if wanted.path:
            return any(h.rule.covers_path(wanted.verb, wanted.path) for h in self.held)
        key = (wanted.verb, wanted.group, wanted.whole)
        try:
            names = self._known[key]
        except KeyError:
            names = self._known[key] = self._names(*key)
        return names is None or (bool(names) and wanted.name in names)

    def _names(self, verb: str, group: str, resource: str) -> frozenset[str] | None:
        """The names for which this is allowed; None stands for all of them."""
        names: frozenset[str] = frozenset()
        for held in self.held:
            if held.rule.covers(verb, group, resource):
                if not held.rule.names:
                    return None
                names |= held.rule.names
        return names

    def reason(self, wanted: Attributes) -> str:
        """Why it is allowed or, as far as there is a reason beside the lack of a rule, why it is not."""
        for held in self.held:
            if wanted.path:
                fits = held.rule.covers_path(wanted.verb, wanted.path)
            else:
                named = not held.rule.names or wanted.name in held.rule.names
                fits = named and held.rule.covers(wanted.verb, wanted.group, wanted.whole)
            if fits:
                return f"RBAC: allowed by {held.why}"
        if len(self.problems) == 1:
            return f"RBAC: {self.problems[0]}"
        return f"RBAC: [{', '.join(self.problems)}]" if self.problems else ""


class Bound(NamedTuple):
    """A role as bound to one subject."""

    rules: tuple[tuple[Rule, Body], ...] | None
    why: str
    problem: str


Index = dict[tuple[str, str], list[Bound]]
Parsed = tuple[tuple[Rule, Body], ...]


class Grants:
    def __init__(
        self,
        roles: Mapping[tuple[str, str], Parsed],
        bindings: Iterable[Body],
    ) -> None:
        """*roles* by namespace (empty for cluster roles) and name; *bindings* of both kinds."""
        self._roles = roles
        self._by_namespace: dict[str, Index] = {}
        for binding in bindings:
            namespace = binding["metadata"].get("namespace") or ""
            index = self._by_namespace.setdefault(namespace, {})
            for subject in binding.get("subjects") or ():
                who = subject_key(subject, namespace)
                index.setdefault(who, []).append(self._bound(binding, namespace, subject))
        self._scopes: dict[tuple[str, tuple[str, ...], str], Scope] = {}

    def rules(self, namespace: str, reference: Body) -> Parsed | None:
        """The rules of the role that a binding in *namespace* refers to; None when there is no such role."""
        place = namespace if reference.get("kind") == "Role" else ""
        return self._roles.get((place, str(reference.get("name"))))

    def scope(self, user: str, groups: tuple[str, ...], namespace: str) -> Scope:
        key = (user, groups, namespace)
        known = self._scopes.get(key)
        if known is None:
            if len(self._scopes) >= 4096:
                self._scopes.clear()  # somebody tries out many identities
            known = self._scopes[key] = self._scope(user, groups, namespace)
        return known

    def _scope(self, user: str, groups: tuple[str, ...], namespace: str) -> Scope:
        whoever = [("User", user), *(("Group", g) for g in groups)]
        held: list[Held] = []
        problems: list[str] = []
        for place in ("", namespace) if namespace else ("",):
            index = self._by_namespace.get(place)
            if not index:
                continue
            for who in whoever:
                for bound in index.get(who, ()):
                    if bound.rules is None:
                        problems.append(bound.problem)
                    else:
                        held += (Held(rule, body, bound.why) for rule, body in bound.rules)
        return Scope(held, problems)

    def _bound(self, binding: Body, namespace: str, subject: Body) -> Bound:
        reference, name = binding["roleRef"], binding["metadata"]["name"]
        kind = "RoleBinding" if namespace else "ClusterRoleBinding"
        shown = f"{name}/{namespace}" if namespace else name
        who = subject["name"]
        if subject["kind"] == "ServiceAccount":
            who = f"{who}/{subject.get('namespace') or namespace}"
        return Bound(
            self.rules(namespace, reference),
            f'{kind} "{shown}" of {reference["kind"]} "{reference["name"]}" to {subject["kind"]} "{who}"',
            f'{str(reference["kind"]).lower()}.{GROUP} "{reference["name"]}" not found',
        )


def subject_key(subject: Body, namespace: str) -> tuple[str, str]:
    """Service accounts are users with a long name."""
    if subject["kind"] == "ServiceAccount":
        return "User", f"system:serviceaccount:{subject.get('namespace') or namespace}:{subject['name']}"
    return str(subject["kind"]), str(subject["name"])
