"""Roles, bindings and borrowed identities for the contracts about access."""

from __future__ import annotations

import secrets
from typing import Any

from tests.kubernetes.rest import Answer, Rest
from tests.kubernetes.waiting import until

GROUP = "rbac.authorization.k8s.io"
CLUSTER_ROLES, CLUSTER_BINDINGS = f"/apis/{GROUP}/v1/clusterroles", f"/apis/{GROUP}/v1/clusterrolebindings"
READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
AUTHORIZATION, AUTHENTICATION = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"


def roles(namespace: str, name: str = "") -> str:
    return f"/apis/{GROUP}/v1/namespaces/{namespace}/roles" + (f"/{name}" if name else "")


def bindings(namespace: str, name: str = "") -> str:
    return f"/apis/{GROUP}/v1/namespaces/{namespace}/rolebindings" + (f"/{name}" if name else "")


def role(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "rules": list(rules)}


def binding(name: str, role: str, subject: str, kind: str = "Role") -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
        "subjects": [{"kind": "User", "apiGroup": GROUP, "name": subject}],
    }


def somebody() -> str:
    """A user nobody has heard of: tests share a server."""
    return f"user-{secrets.token_hex(4)}"


def acting_as(user: str, group: str = "") -> dict[str, str]:
    return {"Impersonate-User": user} | ({"Impersonate-Group": group} if group else {})


def grant(rest: Rest, namespace: str, user: str, *rules: dict[str, Any]) -> None:
    """Give *user* these rules in *namespace*; returns when they act."""
    rest.post(roles(namespace), role(f"of-{user}", *rules)).expect(201)
    rest.post(bindings(namespace), binding(f"of-{user}", f"of-{user}", user)).expect(201)
    wanted = {"namespace": namespace, "resource": rules[0]["resources"][0], "group": rules[0]["apiGroups"][0]}
    names = rules[0].get("resourceNames") or [""]
    asked = {**wanted, "verb": rules[0]["verbs"][0], "name": names[0]}
    until(lambda: allowed(rest, user, asked), what=f"the rights of {user}")


def allowed(rest: Rest, user: str, attributes: dict[str, str], *groups: str) -> bool:
    """What the server says of a user: a SubjectAccessReview."""
    plural, _, subresource = attributes["resource"].partition("/")
    asked = {**attributes, "resource": plural, "subresource": subresource}
    spec = {"user": user, "groups": list(groups), "resourceAttributes": asked}
    answer = rest.post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec}).expect(201)
    return bool(answer["status"]["allowed"])


def who(rest: Rest, headers: dict[str, str] | None = None) -> Answer:
    return rest.send("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}, headers=headers)
