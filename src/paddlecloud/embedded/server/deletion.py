"""Deleting an object: grace for pods, finalizers for everybody, and when it may really go; pure."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ...errors import BadRequest
from . import refusals
from .kinds import Kind
from .schema import Violation

Body = dict[str, Any]
FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
IMMORTAL = ("default", "kube-public", "kube-system")  # the namespaces no cluster is without


@dataclass(frozen=True)
class DeleteOptions:
    grace: int | None = None
    uid: str = ""
    revision: str = ""
    propagation: str = ""
    dry_run: bool = False

    def check(self, kind: Kind, body: Body) -> None:
        """Raises `Conflict` when a precondition does not hold, `Forbidden` where nobody may delete it."""
        metadata = body["metadata"]
        if kind.resource == "/namespaces" and metadata["name"] in IMMORTAL:
            raise refusals.immortal(kind, metadata["name"])
        if self.uid and self.uid != metadata["uid"]:
            raise refusals.precondition(kind, metadata["name"], "UID", self.uid, metadata["uid"])
        if self.revision and self.revision != metadata["resourceVersion"]:
            raise refusals.precondition(
                kind, metadata["name"], "ResourceVersion", self.revision, metadata["resourceVersion"]
            )


def options_of(body: Body, query: dict[str, str]) -> DeleteOptions:
    """From the body, and from the query where the body is silent."""
    preconditions = body.get("preconditions") or {}
    if not isinstance(preconditions, dict):
        raise BadRequest("preconditions must be an object")
    grace = body.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
    try:
        seconds = None if grace is None else int(grace)
    except (TypeError, ValueError) as error:
        raise BadRequest(f"gracePeriodSeconds must be a number, not {grace!r}") from error
    return DeleteOptions(
        grace=seconds,
        uid=preconditions.get("uid") or "",
        revision=preconditions.get("resourceVersion") or "",
        propagation=str(body.get("propagationPolicy") or query.get("propagationPolicy") or ""),
        dry_run=bool(body.get("dryRun")) or "dryRun" in query,
    )


def begin_deletion(kind: Kind, body: Body, options: DeleteOptions, now: datetime) -> Body | None:
    """The object marked as being deleted, or None when nothing keeps it."""
    grace = grace_of(kind, body, options)
    new = copy.deepcopy(body)
    metadata = new["metadata"]
    first = not metadata.get("deletionTimestamp")
    if first and (waits_for := FINALIZERS.get(options.propagation)):
        # The collector takes it away again when the children are gone, or let go.
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), waits_for]
    if grace == 0 and not holds(new):
        return None
    until = (now + timedelta(seconds=grace)).strftime("%Y-%m-%dT%H:%M:%SZ")
    if not first and grace >= metadata.get("deletionGracePeriodSeconds", 0):
        return new
    metadata["deletionTimestamp"] = until
    metadata["deletionGracePeriodSeconds"] = grace
    if kind.resource == "/namespaces":
        new["status"] = {**(new.get("status") or {}), "phase": "Terminating"}
    return new


def grace_of(kind: Kind, body: Body, options: DeleteOptions) -> int:
    """Only a pod that runs somewhere has time to say goodbye."""
    if kind.resource != "/pods" or not (body.get("spec") or {}).get("nodeName"):
        return 0
    if (body.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    own = (body["spec"]).get("terminationGracePeriodSeconds", 30)
    return max(0, own if options.grace is None else options.grace)


def holds(body: Body) -> list[str]:
    """The finalizers that keep an object; those of a namespace's content are in its spec."""
    inner = (body.get("spec") or {}).get("finalizers") or [] if body.get("kind") == "Namespace" else []
    return [*(body["metadata"].get("finalizers") or ()), *inner]


def new_finalizers(body: Body, old: Body | None) -> Iterator[Violation]:
    """What is going may be let go of, not held by somebody new."""
    if old is None or not old["metadata"].get("deletionTimestamp"):
        return
    before = old["metadata"].get("finalizers") or ()
    added = [f for f in body["metadata"].get("finalizers") or () if f not in before]
    if added:
        listed = ", ".join(f'"{f}"' for f in added)
        yield Violation(
            "metadata.finalizers",
            "FieldValueForbidden",
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{listed}}}",
        )


def may_go(body: Body) -> bool:
    """An object that is being deleted goes with its last finalizer, and a pod with its grace."""
    metadata = body["metadata"]
    if not metadata.get("deletionTimestamp") or holds(body):
        return False
    return not metadata.get("deletionGracePeriodSeconds")
