"""Folders that live as long as their pod, in memory where the pod asks for it.

Where pods have mounts, memory is a file system of its own that the pod's holder keeps, cut off at its size.
Elsewhere it is a folder in the machine's memory, and its size is looked at from time to time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ....api.core import Pod
from ..variables import quantity
from . import ownership
from .places import Place, Volume, make_private

EVERY = 30.0
"""Seconds between looks at the size of volumes, and at tokens: one lives ten minutes at least."""


class Excess(NamedTuple):
    """A volume that holds more than it may."""

    volume: str
    limit: str


def make(volume: Volume, pod: Pod, place: Place) -> Path:
    path = folder_of(volume, place)
    if not path.is_dir():
        make_private(path)
        # For a container of any user; the folders around it are closed.
        path.chmod(0o777)
    ownership.give(path, ownership.group_of(pod))
    return path


def folder_of(volume: Volume, place: Place) -> Path:
    """Where an emptyDir lies, or the place at which the pod's holder mounts its memory."""
    shared = wants_memory(volume) and place.closed
    return place.secret(volume["name"]) if shared else place.folder / volume["name"]


def wants_memory(volume: Volume) -> bool:
    return (volume.get("emptyDir") or {}).get("medium") == "Memory"


def in_memory(pod: Pod, place: Place) -> dict[str, int]:
    """What the pod's holder is to mount: folders, and bytes at the most; 0: as much as the kernel gives.

    The folders are there afterwards: the holder may begin before the other volumes are made.
    """
    if place.closed:
        return {}
    wanted = [volume for volume in pod.spec.get("volumes") or () if wants_memory(volume)]
    return {str(make(volume, pod, place)): size_of(pod, volume) for volume in wanted}


def size_of(pod: Pod, volume: Volume) -> int:
    """Its `sizeLimit`, and never more than all containers together may use."""
    limits = [((c.get("resources") or {}).get("limits") or {}).get("memory") for c in pod.spec["containers"]]
    together = sum(quantity(str(limit)) for limit in limits) if all(limits) else 0.0
    sizes = (together, quantity(str(volume["emptyDir"].get("sizeLimit") or 0)))
    return int(min((size for size in sizes if size), default=0))


def excess(pod: Pod, place: Place) -> Excess | None:
    """The first emptyDir of *pod* that is over its limit."""
    for volume, limit in limited(pod):
        if wants_memory(volume) and not place.closed:
            # The kernel lets nobody go beyond it.
            continue
        if used(folder_of(volume, place)) > quantity(limit):
            return Excess(volume["name"], limit)
    return None


def limited(pod: Pod) -> Iterator[tuple[dict[str, Any], str]]:
    for volume in pod.spec.get("volumes") or ():
        limit = (volume.get("emptyDir") or {}).get("sizeLimit")
        if limit is not None and quantity(str(limit)) > 0:
            yield volume, str(limit)


def used(folder: Path) -> int:
    """The room its files take on the disk; what vanishes meanwhile takes none."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                continue
    return total
