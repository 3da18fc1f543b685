"""Where the volumes of a pod are made, and where their contents come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ....api.core import Pod
from ....api.meta import Resource
from ..obstacles import VolumeMissing
from .plugins import Plugins

R = TypeVar("R", bound=Resource)
ACCESS = "kube-api-access-"
"""How the names of the volumes begin that the API adds to pods."""
ACCESS_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
Volume = Mapping[str, Any]


class Sources(Protocol):
    """Where the contents come from."""

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None: ...

    async def token(self, pod: Pod, audience: str, seconds: int) -> bytes:
        """A token of the pod's service account that dies with the pod; an empty audience is the API's."""
        ...


@dataclass(frozen=True)
class Place:
    """Where the volumes of one pod are made, and where persistent ones of this home lie."""

    folder: Path
    persistent: Path
    memory: Path | None = None
    """A folder of the pod in memory, for what must not reach a disk; None: there is none."""
    closed: bool = True
    """Files that the cluster fills are for their owner only: nothing hides their paths from others."""
    machine: Mapping[str, str] = field(default_factory=dict)
    """Capacity, for limits that are not set."""
    plugins: Plugins = field(default_factory=dict)
    """Drivers by name."""
    disk: Path | None = None
    """The node's own, where host paths below `/var/lib/paddlecloud` lie; None: they are the machine's."""
    now: float = 0.0

    def secret(self, name: str) -> Path:
        """The folder of a volume that holds secrets."""
        return (self.memory or self.folder) / name


def make_private(folder: Path) -> None:
    """*folder* and what is missing above it, closed to other users from their first moment."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def failed(volume: str, why: str, next_step: str = "") -> VolumeMissing:
    """What a kubelet says of a volume that it cannot set up, and what would help."""
    return VolumeMissing(f'MountVolume.SetUp failed for volume "{volume}" : {why}', next_step=next_step)


def volumes_of(pod: Pod) -> list[Volume]:
    return list(pod.spec.get("volumes") or ())


def has_access(container: Mapping[str, Any]) -> bool:
    """Whether a container finds a token where clients of the API look for one."""
    return any(m["mountPath"].rstrip("/") == ACCESS_PATH for m in container.get("volumeMounts") or ())
