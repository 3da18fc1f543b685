"""A pod that has just begun is told of when it is ready, or when that takes too long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_pod, metadata, seen

from paddlecloud.api.core import Pod, Service
from paddlecloud.api.endpoints import Endpoints
from paddlecloud.controllers.contract import Decision
from paddlecloud.embedded.workloads import endpoints
from paddlecloud.embedded.workloads.stamps import stamp

IP = "10.0.0.1"
EMPTY = Endpoints.read({"metadata": metadata("s")})
KNOWN = Endpoints.read({"metadata": metadata("s"), "subsets": [{"addresses": [{"ip": IP}]}]})


def pod(seconds: int, ready: bool = False) -> Pod:
    """One whose container started so many seconds ago."""
    since = stamp(NOW - timedelta(seconds=seconds))
    started = {"startTime": since, "containerStatuses": [{"state": {"running": {"startedAt": since}}}]}
    made = a_pod("p", ip=IP, ready=ready, labels={"app": "x"}, status=started)
    return made.but(metadata=made.metadata.but(creation_timestamp=NOW - timedelta(seconds=seconds)))


def look(member: Pod, told: Endpoints, **spec: Any) -> Decision:
    ports = [{"port": 80, "targetPort": 8080}]
    body = {"metadata": metadata("s"), "spec": {"selector": {"app": "x"}, "ports": ports, **spec}}
    service = Service.read(body)
    return endpoints.reconcile(service, seen(service, related=(member, told)))


@pytest.mark.parametrize(
    "member, told, spec, field, again",
    [
        (pod(1), EMPTY, {}, "", 4.0),
        (pod(6), EMPTY, {}, "notReadyAddresses", None),
        (pod(1, ready=True), EMPTY, {}, "addresses", None),
        # One that was told of before is told of as it is now.
        (pod(1), KNOWN, {}, "notReadyAddresses", None),
        (pod(1), EMPTY, {"publishNotReadyAddresses": True}, "addresses", None),
    ],
)
def test_when_a_pod_is_told_of(
    member: Pod, told: Endpoints, spec: dict[str, Any], field: str, again: float | None
) -> None:
    decision = look(member, told, **spec)

    subsets = [s for change in decision.changes for s in change.patch.get("subsets") or ()]
    assert [name for s in subsets for name in s if name != "ports"] == ([field] if field else [])
    assert decision.check_again == again
