"""Questions about access, answered and never stored: who am I, may I, may they, whose token is this."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...errors import BadRequest, Invalid, Unauthorized
from .access import Access
from .accounts import ISSUER
from .rbac import MASTERS, Attributes
from .users import User

Body = dict[str, Any]
NEVER_STORED: Body = {"metadata": {"creationTimestamp": None}}
EXACTLY_ONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


class Reviews:
    """One answer a kind; `answers` says which kinds there are."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.answers = {
            "authentication.k8s.io/selfsubjectreviews": self._who_am_i,
            "authentication.k8s.io/tokenreviews": self._token,
            "authorization.k8s.io/selfsubjectaccessreviews": self._may_i,
            "authorization.k8s.io/subjectaccessreviews": self._may_they,
            "authorization.k8s.io/localsubjectaccessreviews": self._may_they,
            "authorization.k8s.io/selfsubjectrulesreviews": self._what_may_i,
        }

    def answer(self, resource: str, body: Body, user: User, namespace: str, now: str) -> Body:
        spec = body.get("spec") or {}
        if not isinstance(spec, dict):
            raise BadRequest("spec must be an object")
        return self.answers[resource](spec, user, namespace, now)

    def _who_am_i(self, _: Body, user: User, __: str, now: str) -> Body:
        review = authentication("SelfSubjectReview")
        return review | {"metadata": {"creationTimestamp": now}, "status": {"userInfo": user.info()}}

    def _token(self, spec: Body, _: User, __: str, ___: str) -> Body:
        token, audiences = str(spec.get("token") or ""), tuple(spec.get("audiences") or ())
        if not token:
            raise BadRequest("token is required for TokenReview in authentication")
        status: Body
        try:
            holder, meant = self._access.holder(token, audiences or (ISSUER,))
            status = {"authenticated": True, "user": holder.info(), "audiences": list(meant)}
        except Unauthorized as error:
            status = {"user": {}, "error": error.message}
        return authentication("TokenReview") | NEVER_STORED | {"spec": spec, "status": status}

    def _may_i(self, spec: Body, user: User, _: str, __: str) -> Body:
        status = self._status(user, attributes(spec))
        return authorization("SelfSubjectAccessReview") | NEVER_STORED | {"spec": spec, "status": status}

    def _may_they(self, spec: Body, _: User, namespace: str, __: str) -> Body:
        name, groups = str(spec.get("user") or ""), tuple(spec.get("groups") or ())
        wanted = attributes(spec)
        if not name and not groups:
            raise invalid("spec.user", 'Invalid value: "": at least one of user or group must be specified')
        kind = "SubjectAccessReview"
        metadata: Body = NEVER_STORED
        if namespace:
            check_local(spec, namespace)
            kind = "LocalSubjectAccessReview"
            metadata = {"metadata": {"namespace": namespace, "creationTimestamp": None}}
        status = self._status(User(name, groups, str(spec.get("uid") or "")), wanted)
        return authorization(kind) | metadata | {"spec": spec, "status": status}

    def _what_may_i(self, spec: Body, user: User, _: str, __: str) -> Body:
        namespace = str(spec.get("namespace") or "")
        if not namespace:
            raise BadRequest("no namespace on request")
        resources: list[Body] = []
        paths: list[Body] = []
        for held in self._access.authorizer.scope(user, namespace).held:
            rule = shown(held.body)
            kept = paths if "nonResourceURLs" in rule else resources
            if rule not in kept:
                kept.append(rule)
        status = {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}
        return authorization("SelfSubjectRulesReview") | NEVER_STORED | {"spec": {}, "status": status}

    def _status(self, user: User, wanted: Attributes) -> Body:
        authorizer = self._access.authorizer
        status: Body = {"allowed": authorizer.allowed(user, wanted)}
        if MASTERS not in user.groups and (reason := authorizer.scope(user, wanted.namespace).reason(wanted)):
            status["reason"] = reason
        return status


def authentication(kind: str) -> Body:
    return {"kind": kind, "apiVersion": "authentication.k8s.io/v1"}


def authorization(kind: str) -> Body:
    return {"kind": kind, "apiVersion": "authorization.k8s.io/v1"}


def attributes(spec: Body) -> Attributes:
    """What a review asks about; raises `Invalid` unless it asks about exactly one thing."""
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and other is not None:
        shown_as = go_value(other)
        problem = f"Invalid value: {shown_as}: cannot be specified in combination with resourceAttributes"
        raise invalid("spec.nonResourceAttributes", problem)
    if isinstance(resource, dict):
        verb, group, plural, subresource, namespace, name = (
            str(resource.get(f) or "")
            for f in ("verb", "group", "resource", "subresource", "namespace", "name")
        )
        return Attributes(verb, group, plural, subresource, namespace, name)
    if isinstance(other, dict):
        return Attributes(str(other.get("verb") or ""), path=str(other.get("path") or "") or "/")
    raise invalid("spec.resourceAttributes", f'Invalid value: "null": {EXACTLY_ONE}')


def check_local(spec: Body, namespace: str) -> None:
    """A review in a namespace is about that namespace."""
    if (other := spec.get("nonResourceAttributes")) is not None:
        problem = f"Invalid value: {go_value(other)}: disallowed on this kind of request"
        raise invalid("spec.nonResourceAttributes", problem)
    given = spec["resourceAttributes"].get("namespace") or ""
    if given != namespace:
        problem = f'Invalid value: "{given}": must match metadata.namespace'
        raise invalid("spec.resourceAttributes.namespace", problem)


def shown(rule: Mapping[str, Any]) -> Body:
    """A rule without what is empty, verbs first."""
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return {f: list(rule[f]) for f in fields if rule.get(f)}


def go_value(attributes: Any) -> str:
    path, verb = (json.dumps(str(attributes.get(f) or "")) for f in ("path", "verb"))
    return f"authorization.NonResourceAttributes{{Path:{path}, Verb:{verb}}}"


def invalid(field: str, message: str) -> Invalid:
    cause = {"reason": "FieldValueInvalid", "message": message, "field": field}
    return Invalid(
        f'.authorization.k8s.io "" is invalid: {field}: {message}',
        details={"group": "authorization.k8s.io", "causes": [cause]},
    )
