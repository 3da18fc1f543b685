"""What a sandbox asks of the network: to connect the namespace of a pod's holder, and to let go of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from ..network.reach import Machine, Reach


class Network(Protocol):
    @property
    def separate(self) -> bool:
        """Whether pods get network namespaces of their own."""
        ...

    @property
    def reach(self) -> Reach:
        """From where their addresses can be reached."""
        ...

    def wish(self, address: str) -> dict[str, Any]:
        """What the holder of the pod with this address is to do about its network."""
        ...

    def made(self, address: str) -> None:
        """A holder has done so."""
        ...

    async def attach(self, folder: Path, address: str) -> None:
        """See that the pod in *folder*, which has a holder, is connected; often repeated."""
        ...

    async def detach(self, address: str) -> None:
        """Forget the pod; its namespace goes with its processes."""
        ...


class Shared:
    """Pods use the network of the machine, each with an address of its own to bind to."""

    separate = False
    reach = Machine()

    def wish(self, address: str) -> dict[str, Any]:
        return {}

    def made(self, address: str) -> None:
        return

    async def attach(self, folder: Path, address: str) -> None:
        return

    async def detach(self, address: str) -> None:
        return
