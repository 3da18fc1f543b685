"""What a sandbox asks of the network: to connect the namespace of a pod's holder, and to let go of it."""

from __future__ import annotations

from typing import Protocol


class Network(Protocol):
    @property
    def separate(self) -> bool:
        """Whether pods get network namespaces of their own."""
        ...

    async def attach(self, uid: str, holder: int) -> None:
        """See that the pod *uid* is connected through the namespace of process *holder*; often repeated."""
        ...

    async def detach(self, uid: str) -> None:
        """Forget the pod; its namespace goes with its processes."""
        ...


class Shared:
    """Pods use the network of the machine, each with an address of its own to bind to."""

    separate = False

    async def attach(self, uid: str, holder: int) -> None:
        return

    async def detach(self, uid: str) -> None:
        return
