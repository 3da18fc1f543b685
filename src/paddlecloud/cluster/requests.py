"""Every request to a Kubernetes API as a value, without sending it.

The async and the sync client send the same values and hand the answers to the same `parse`, so that
neither wraps the other and a request can be tested by looking at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from ..api.meta import Key, Resource
from ..errors import ServerError, WrongUse, from_status

FIELD_MANAGER = "paddlecloud"
PAGE = 500


class Place(NamedTuple):
    """Where a kind lives on the server, for kinds that have no class."""

    api_version: str
    plural: str
    namespaced: bool = True


Kind = type[Resource] | Place
Labels = Mapping[str, str] | str | None
"""Label or field selector: pairs that must be equal, or the text of one."""


class PatchType(StrEnum):
    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def slow(self) -> bool:
        """Whether somebody behind the server answers it, in their own time."""
        return self.path.endswith("/log")

    @property
    def idempotent(self) -> bool:
        """Sent twice, the cluster ends up as if it had been sent once."""
        if self.method == "PATCH":
            return self.headers.get("Content-Type") != PatchType.JSON
        return self.method in ("GET", "PUT", "DELETE")


@dataclass(frozen=True)
class Scope:
    """Which objects of a kind: those of a namespace (empty: all) that match the selectors."""

    namespace: str = ""
    labels: Labels = None
    fields: Labels = None

    def query(self) -> tuple[tuple[str, str], ...]:
        texts = (("labelSelector", selector(self.labels)), ("fieldSelector", selector(self.fields)))
        return tuple((name, text) for name, text in texts if text)


def version() -> Request:
    """What every server answers to whoever it knows, without looking anything up."""
    return Request("GET", "/version", headers=ACCEPT)


def get(kind: Kind, key: Key, subresource: str = "") -> Request:
    return Request("GET", path_of(kind, key, subresource), headers=ACCEPT)


def listing(kind: Kind, scope: Scope, *, limit: int = PAGE, after: str = "") -> Request:
    """One page of a list; *after* is the `continue` of the page before."""
    paging = (("limit", str(limit)),) if limit else ()
    more = (("continue", after),) if after else ()
    return Request("GET", collection(kind, scope.namespace), (*scope.query(), *paging, *more), ACCEPT)


def watching(kind: Kind, scope: Scope, resource_version: str, seconds: int) -> Request:
    """Changes after *resource_version*, for at most that many seconds, with bookmarks."""
    query = (
        ("watch", "true"),
        ("allowWatchBookmarks", "true"),
        ("resourceVersion", resource_version),
        ("timeoutSeconds", str(seconds)),
        *scope.query(),
    )
    return Request("GET", collection(kind, scope.namespace), query, ACCEPT)


def creation(kind: Kind, namespace: str, body: Mapping[str, Any]) -> Request:
    demand_namespace(kind, namespace)
    return write("POST", collection(kind, namespace), body)


def replacement(kind: Kind, key: Key, body: Mapping[str, Any], subresource: str = "") -> Request:
    return write("PUT", path_of(kind, key, subresource), body)


def patching(
    kind: Kind, key: Key, patch: Any, *, subresource: str = "", form: PatchType = PatchType.MERGE
) -> Request:
    request = write("PATCH", path_of(kind, key, subresource), patch, form)
    forced = (("force", "true"),) if form is PatchType.APPLY else ()
    return Request(request.method, request.path, (*request.query, *forced), request.headers, request.body)


def scaling(kind: Kind, key: Key, replicas: int) -> Request:
    return patching(kind, key, {"spec": {"replicas": replicas}}, subresource="scale")


def deletion(
    kind: Kind, key: Key, *, uid: str = "", grace: int | None = None, propagation: str = "Background"
) -> Request:
    """A delete that touches only the object with that uid, when one is given."""
    options: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": propagation,
    }
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if uid:
        options["preconditions"] = {"uid": uid}
    return Request("DELETE", path_of(kind, key), headers=SENDS_JSON, body=orjson.dumps(options))


def pod_log(
    pod: Key, *, container: str = "", tail: int | None = None, follow: bool = False, stamped: bool = False
) -> Request:
    query = {
        "container": container,
        "tailLines": "" if tail is None else str(tail),
        "follow": "true" if follow else "",
        "timestamps": "true" if stamped else "",
    }
    given = tuple((name, value) for name, value in query.items() if value)
    # Errors come as JSON, the log itself as plain text: a strict server must be allowed both.
    return Request("GET", path_of(Place("v1", "pods"), pod, "log"), given, {"Accept": "*/*"})


def pod_records(pod: Key, container: str) -> Request:
    """Asks an embedded cluster what a container wrote with VisualDL; elsewhere no pod is called by a dash."""
    query = (("records", pod.name), ("container", container))
    path = path_of(Place("v1", "pods"), Key(pod.namespace, "-"), "log")
    return Request("GET", path, query, {"Accept": "*/*"})


def parse(status: int, body: bytes) -> dict[str, Any]:
    """The object of an answer; raises the `ApiError` it stands for when it is not a success."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        text = body[:500].decode(errors="replace").strip()
        if status < 400:
            raise ServerError(f"the server answered {status} without JSON: {text!r}") from error
        raise from_status(status, {"message": text}) from error
    if not isinstance(content, dict):
        raise ServerError(f"the server answered {status} with JSON that is no object")
    if status >= 400:
        raise from_status(status, content)
    return content


ACCEPT = {"Accept": "application/json"}
SENDS_JSON = {**ACCEPT, "Content-Type": "application/json"}


def write(method: str, path: str, body: Any, content_type: str = "application/json") -> Request:
    headers = {**ACCEPT, "Content-Type": str(content_type)}
    return Request(method, path, (("fieldManager", FIELD_MANAGER),), headers, orjson.dumps(body))


def path_of(kind: Kind, key: Key, subresource: str = "") -> str:
    if not key.name:
        raise WrongUse(f"a {kind.plural} request needs the name of an object")
    demand_namespace(kind, key.namespace)
    path = f"{collection(kind, key.namespace)}/{quote(key.name, safe='')}"
    return f"{path}/{subresource}" if subresource else path


def collection(kind: Kind, namespace: str) -> str:
    root = f"/apis/{kind.api_version}" if "/" in kind.api_version else f"/api/{kind.api_version}"
    inside = f"/namespaces/{quote(namespace, safe='')}" if kind.namespaced and namespace else ""
    return f"{root}{inside}/{kind.plural}"


def demand_namespace(kind: Kind, namespace: str) -> None:
    if kind.namespaced and not namespace:
        raise WrongUse(f"{kind.plural} live in namespaces, and none was given")


def selector(wanted: Labels) -> str:
    if wanted is None or isinstance(wanted, str):
        return wanted or ""
    return ",".join(f"{name}={value}" for name, value in wanted.items())
