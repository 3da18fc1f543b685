"""Volumes that a driver brings: the seam for file systems that are not folders of this machine.

The steps are those of a CSI driver's node part. Each is repeated until it succeeds and may be called again
after it did; `publish` names the folder that stands for the volume.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Request:
    """One volume of one pod, as its driver sees it."""

    handle: str
    """What the driver calls the volume: `csi.volumeHandle`, or for an inline volume a name of the pod's."""
    attributes: Mapping[str, str]
    pod: str
    """The uid of the pod."""
    namespace: str
    target: Path
    """A folder of the pod that the driver may make and fill."""
    read_only: bool = False
    node: str = ""
    """Where the pod runs: several virtual nodes are one machine."""
    secrets: Mapping[str, bytes] = field(default_factory=dict, repr=False)


class Plugin(Protocol):
    """A driver. Raise `VolumeMissing` for what may heal: the pod waits and is told."""

    async def stage(self, request: Request) -> None:
        """Make the volume ready on this machine, once for all pods that use it."""
        ...

    async def publish(self, request: Request) -> Path:
        """The folder the pod sees."""
        ...

    async def unpublish(self, pod: str, target: Path) -> None:
        """The pod is gone: take back what `publish` gave it."""
        ...


Plugins = Mapping[str, Plugin]
RECORD = "published.json"


def remember(folder: Path, driver: str, target: Path) -> None:
    """Write down in the pod's *folder* what a driver is about to give it, so that it is taken back."""
    known = published(folder)
    if [driver, str(target)] not in known:
        new = folder / (RECORD + ".new")
        new.write_text(json.dumps([*known, [driver, str(target)]]), encoding="utf-8")
        new.rename(folder / RECORD)


def published(folder: Path) -> list[list[str]]:
    try:
        found: list[list[str]] = json.loads((folder / RECORD).read_bytes())
    except (FileNotFoundError, ValueError):
        return []
    return found


async def take_back(folder: Path, pod: str, plugins: Plugins) -> None:
    """Every driver hears that the pod is gone; often repeated."""
    for driver, target in published(folder):
        if (plugin := plugins.get(driver)) is not None:
            await plugin.unpublish(pod, Path(target))
