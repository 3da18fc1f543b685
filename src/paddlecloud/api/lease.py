"""Lease: who holds a task at the moment, and until when unless renewed."""

from __future__ import annotations

from .meta import Resource, Value


class LeaseSpec(Value):
    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int = 0


class Lease(Resource):
    api_version, plural = "coordination.k8s.io/v1", "leases"
    has_status = False

    spec: LeaseSpec = LeaseSpec()
