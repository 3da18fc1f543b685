"""Folders that live as long as their pod, in memory where the pod asks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ....api.core import Pod
from ..variables import quantity
from .places import Place, Volume, make_private


class Excess(NamedTuple):
    """A volume that holds more than it may."""

    volume: str
    limit: str


def make(volume: Volume, place: Place) -> Path:
    path = folder_of(volume, place)
    if not path.is_dir():
        make_private(path)
        # For a container of any user; the folders around it are closed.
        path.chmod(0o777)
    return path


def folder_of(volume: Volume, place: Place) -> Path:
    """Where an emptyDir lies; memory counts as long as the machine has a folder for it."""
    memory = (volume["emptyDir"] or {}).get("medium") == "Memory"
    return place.secret(volume["name"]) if memory else place.folder / volume["name"]


def excess(pod: Pod, place: Place) -> Excess | None:
    """The first emptyDir of *pod* that is over its limit."""
    for volume, limit in limited(pod):
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
