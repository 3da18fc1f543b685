"""What a write may say: its options, where it belongs, which parts of an object it can change; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from ...errors import BadRequest, MethodNotAllowed
from . import refusals
from .casting import Unfit, check_given
from .kinds import Kind

Body = dict[str, Any]
# Set by the server alone; what a client sends for these is put back.
SERVER_SIDE = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds")
NAMED = 100  # unknown fields of a built-in object that are named


@dataclass
class WriteOptions:
    dry_run: bool = False
    field_validation: str = ""
    """Strict, Warn or Ignore."""
    warnings: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    """Fields that the body says more than once."""
    manager: str = "paddlecloud"
    """Who owns what this write changes."""
    owners_known: bool = False
    """The body carries its owners already: it was applied."""
    door: str = ""
    """The subresource that owns what is changed, where the write goes to the object itself: scale."""
    admit: Callable[[Body, Body | None], None] | None = None
    """Given the new and the old body; raises when this client may not make that of it."""
    may_create: Callable[[], None] | None = None
    """Raises when this client may change an object but not make it."""
    checked: bool = False
    """The body was checked when it was made, with all of PaddleCloud: a start does not do that again."""


def check_place(kind: Kind, namespace: str, body: Body) -> None:
    for given, own in ((body.get("apiVersion"), kind.api_version), (body.get("kind"), kind.kind)):
        if given and given != own:
            raise BadRequest(
                f"{given} in the body does not match the requested resource "
                f"({kind.api_version}, Kind={kind.kind})"
            )
    given = (body.get("metadata") or {}).get("namespace")
    if kind.namespaced and given and given != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if kind.namespaced and not namespace:
        raise MethodNotAllowed("the server does not allow this method on the requested resource")


def check_identity(kind: Kind, old: Body, made: Body) -> None:
    metadata = made.get("metadata")
    if not isinstance(metadata, dict):
        raise BadRequest("metadata must be an object")
    check_given(kind, made, old["metadata"])
    name = old["metadata"]["name"]
    if metadata.get("name") != name:
        raise BadRequest(
            f"the name of the object ({metadata.get('name')}) does not match the name on the URL ({name})"
        )
    if metadata.get("uid") not in (None, "", old["metadata"]["uid"]):
        raise refusals.precondition(kind, name, "UID", metadata["uid"], old["metadata"]["uid"])
    if metadata.get("resourceVersion") not in (None, "", old["metadata"]["resourceVersion"]):
        raise refusals.modified(kind, name)


def merged(kind: Kind, old: Body, made: Body, subresource: str) -> Body:
    """What a write through this path may change: one part alone, or all but the status."""
    made = {k: v for k, v in made.items() if k not in ("apiVersion", "kind")}
    if subresource in ("status", "approval"):
        new: Body = orjson.loads(orjson.dumps(old))  # a copy, many times faster than copying piece by piece
        new.pop("status", None)
        if "status" in made:
            new["status"] = made["status"]
        return new
    if subresource == "ephemeralcontainers":
        asked = (made.get("spec") or {}).get("ephemeralContainers")
        rest = {k: v for k, v in old["spec"].items() if k != "ephemeralContainers"}
        return {**old, "spec": {**rest, "ephemeralContainers": asked} if asked else rest}
    new = dict(made)
    metadata = dict(made["metadata"])
    for name in (*SERVER_SIDE, "namespace", "resourceVersion"):
        metadata.pop(name, None)
        if name in old["metadata"]:
            metadata[name] = old["metadata"][name]
    metadata.pop("managedFields", None)
    new["metadata"] = {k: v for k, v in metadata.items() if v is not None}
    if kind.has_status:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]
    return new


def outside(body: Body) -> Body:
    """What counts for the generation: everything but metadata and status."""
    return {k: v for k, v in body.items() if k not in ("metadata", "status", "apiVersion", "kind")}


def report_unknown(
    unknown: list[str], options: WriteOptions, kind: Kind | None = None, body: Body | None = None
) -> None:
    problems = [*(f'duplicate field "{path}"' for path in options.duplicates)]
    problems += [f'unknown field "{path}"' for path in unknown]
    if not problems or options.field_validation == "Ignore":
        return
    if kind is not None and not kind.custom:
        problems = problems[:NAMED]
    if options.field_validation == "Strict":
        sentence = f"strict decoding error: {', '.join(problems)}"
        raise Unfit(kind, body or {}, sentence) if kind else BadRequest(sentence)
    options.warnings.extend(problems)
