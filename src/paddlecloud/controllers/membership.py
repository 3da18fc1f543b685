"""Which workers an elastic PaddleJob goes on with, and when it changes its size; pure.

Members are the workers that have an address. The job begins with all that are wanted, or, when some find no
place for a while, with fewer but never with less than `worker.requests`. As soon as the members could be
others than those who train, all begin again with the new number, from their last checkpoint.
"""

from __future__ import annotations

from datetime import datetime

from ..api.core import Pod
from ..api.paddlejob import Intranet, PaddleJob
from .attempts import fingerprint, mark_of
from .jobpods import role_of

PATIENCE = 20.0  # seconds to wait for the last ones


def members(job: PaddleJob, pods: dict[str, Pod], now: datetime) -> dict[str, Pod]:
    """The pods to begin with; none while others are worth waiting for."""
    # Peers are called by name before they have an address; one that could be left out must show itself.
    named = job.spec.intranet is Intranet.SERVICE and job.spec.elastic is None
    present = {n: p for n, p in pods.items() if p.ip or named}
    missing = {
        role: group.replicas - sum(role_of(p) == role for p in present.values())
        for role, group in job.spec.roles().items()
    }
    if not any(missing.values()):
        return present
    worker = job.spec.worker
    if job.spec.elastic is None or worker is None or wait_left(pods, now) > 0:
        return {}
    others = any(count for role, count in missing.items() if role != "worker")
    return present if worker.replicas - missing["worker"] >= (worker.requests or 1) and not others else {}


def wait_left(pods: dict[str, Pod], now: datetime) -> float:
    """Seconds for which a worker without an address is waited for: the youngest pod counts."""
    made = [p.metadata.creation_timestamp for p in pods.values() if p.metadata.creation_timestamp]
    return max(0.0, PATIENCE - (now - max(made)).total_seconds()) if made else 0.0


def has_changed(job: PaddleJob, pods: dict[str, Pod], now: datetime) -> bool:
    """Whether those who train are others than those who could."""
    if job.spec.elastic is None or job.spec.elastic_launcher:
        return False  # the launcher sees for itself who comes and goes
    training = {mark.peers for p in pods.values() if (mark := mark_of(p)) and mark.peers}
    if not training or any(p.phase == "Succeeded" for p in pods.values()):
        return False  # nobody begins again when the end is near
    possible = members(job, pods, now)
    return bool(possible) and training != {fingerprint(possible.values())}
