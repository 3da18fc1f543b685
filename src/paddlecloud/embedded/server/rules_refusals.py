"""What leases and runtimes may not be, in Kubernetes' words; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_scheduling import check_tolerations
from .complaints import at_least_zero, immutable, invalid
from .facts.scalars import amount
from .names import check_labels, label_problem
from .schema import Violation

Body = dict[str, Any]


def check_lease(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from at_least_zero(spec.get("leaseTransitions"), "spec.leaseTransitions")


def check_runtime(body: Body, old: Body | None) -> Iterator[Violation]:
    handler = body["handler"]
    if problem := label_problem(handler):
        yield invalid("handler", handler, problem)
    for name, text in ((body.get("overhead") or {}).get("podFixed") or {}).items():
        if amount(text) < 0:
            path = f"overhead.limits[{name}]"
            yield invalid(path, text, "must be greater than or equal to 0")
    scheduling = body.get("scheduling") or {}
    yield from check_labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector")
    yield from check_tolerations(scheduling.get("tolerations") or [], "scheduling.tolerations.tolerations")
    if old is not None and handler != old["handler"]:
        yield immutable("handler", handler)
