"""What a node asks of the API, a small protocol; `agent` speaks it to a cluster, tests to a dictionary."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from ...api.core import Event, Pod, Service
from ...api.meta import Resource

R = TypeVar("R", bound=Resource)


class Upstream(Protocol):
    async def find(self, kind: type[R], namespace: str, name: str) -> R | None: ...

    async def services(self, namespace: str) -> list[Service]:
        """All services of the namespace, as they are known here."""
        ...

    async def token(self, pod: Pod, audience: str, seconds: int) -> bytes:
        """A token of the pod's service account that dies with the pod; an empty audience is the API's."""
        ...

    async def publish(self, pod: Pod, status: dict[str, Any]) -> Pod:
        """Merge *status* into that of the pod; raises `NotFound` when it is gone."""
        ...

    async def remove(self, pod: Pod) -> None:
        """Take the pod out of the API, now, if it is still this very pod."""
        ...

    async def record(self, event: Event) -> None:
        """Create the event, or raise the count of the one that has its name."""
        ...
