"""Events of `events.k8s.io/v1`: the core events under newer names, with stricter rules; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .complaints import invalid
from .names import qualified_problems
from .schema import Violation

Body = dict[str, Any]
# From the core name to the newer one.
NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
BACK = {newer: core for core, newer in NAMES.items()}
LEFT_OUT_EMPTY = ("message", "reportingComponent", "reportingInstance")
REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
SELECTABLE = {
    **{f"regarding.{part}": f"involvedObject.{part}" for part in REFERENCE},
    "reportingController": "reportingComponent",
    "reason": "reason",
    "type": "type",
}
TYPES = ("Normal", "Warning")
SETTLED = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type",
    "eventTime", "action", "related", "reportingComponent", "reportingInstance",
)  # fmt: skip
LONGEST, LONGEST_MESSAGE = 128, 1024


def shown(body: Body) -> Body:
    return {NAMES.get(k, k): v for k, v in body.items() if v != "" or k not in LEFT_OUT_EMPTY}


def kept(body: Body) -> Body:
    return {BACK.get(k, k): v for k, v in body.items()}


def check(event: Body, old: Body | None) -> Iterator[Violation]:
    """An event written through the newer group; the fields are named as they are kept."""
    yield from check_event(event, old)
    if old is not None:
        yield from changed(event, old)
    else:
        yield from begun(event)
    if (series := event.get("series")) is not None:
        if series.get("count", 0) < 2:
            yield unsaid("series.count", "should be at least 2")
        if not series.get("lastObservedTime"):
            yield Violation("series.lastObservedTime", "FieldValueRequired", "Required value")


def begun(event: Body) -> Iterator[Violation]:
    if not event.get("eventTime"):
        yield Violation("eventTime", "FieldValueRequired", "Required value")
    if event.get("type") not in TYPES:
        yield unsaid("type", f"has invalid value: {event.get('type') or ''}")
    for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if event.get(field):
            yield unsaid(field, "needs to be unset")


def changed(event: Body, old: Body) -> Iterator[Violation]:
    for field in SETTLED:
        if (event.get(field) or None) != (old.get(field) or None):
            yield invalid(field, event.get(field), "field is immutable")


def check_event(event: Body, _: Body | None) -> Iterator[Violation]:
    """Any event; one with an `eventTime` must say who reports it."""
    own, of = event["metadata"].get("namespace", ""), event["involvedObject"].get("namespace", "")
    if not event.get("eventTime"):
        # It lies beside what it tells of; of what has no namespace, in the default one.
        if own != (of or "default"):
            yield invalid("involvedObject.namespace", of, "does not match event.namespace")
        return
    if not of and own not in ("default", "kube-system"):
        yield invalid("involvedObject.namespace", of, "does not match event.namespace")
    controller = event.get("reportingComponent") or ""
    if not controller:
        yield Violation("reportingController", "FieldValueRequired", "Required value")
    for problem in qualified_problems(controller):
        yield invalid("reportingController", controller, problem)
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field) or ""
        if not text:
            yield Violation(field, "FieldValueRequired", "Required value")
        elif len(text.encode()) > LONGEST:
            yield unsaid(field, f"can have at most {LONGEST} characters")
    if len((event.get("message") or "").encode()) > LONGEST_MESSAGE:
        yield unsaid("message", f"can have at most {LONGEST_MESSAGE} characters")


def unsaid(field: str, message: str) -> Violation:
    """A complaint that does not repeat the value."""
    return invalid(field, "", message)
