"""Makes the volumes of a pod, each as a folder or file of its own; one that is there stays.

A volume that lacks something raises `VolumeMissing`: the pod waits and the next look tries again. Claims and
host paths are used where they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from ....api.core import Pod
from . import claims, emptydir, hostpath, ownership
from .filling import FILLED, fill
from .places import Place, Sources, Volume, failed, make_private, volumes_of


async def prepare(pod: Pod, place: Place, sources: Sources) -> dict[str, Path]:
    """The real folder or file of every volume of *pod*, by name."""
    make_private(place.folder)
    return {volume["name"]: await one(volume, pod, place, sources) for volume in volumes_of(pod)}


async def one(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    try:
        for kind, make in MAKERS.items():
            if kind in volume:
                return await make(volume, pod, place, sources)
    except OSError as error:
        # A full disk and a folder that is closed to us are obstacles like others: they may go away.
        what = f"{error.filename or place.folder}: {error.strerror or error}"
        raise failed(volume["name"], what, "make room or give access; the pod goes on by itself") from error
    kinds = ", ".join(key for key in volume if key != "name") or "nothing"
    why = f"it is of a kind nodes here do not have: {kinds}"
    raise failed(volume["name"], why, f"use one of {', '.join(sorted(k for k in MAKERS if '-' not in k))}")


async def empty_dir(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    return emptydir.make(volume, pod, place)


async def host_path(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    said = volume["hostPath"]
    path = hostpath.on_disk(said["path"], place.disk)
    checked = hostpath.checked(volume["name"], path, said.get("type") or "")
    if path != said["path"] and said.get("type") == "DirectoryOrCreate":
        hostpath.note(place.folder.parent, checked)
    return checked


async def claim(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    path, made_here = await claims.folder_of(volume, pod, place, sources)
    if made_here:
        ownership.give(path, ownership.group_of(pod))
    return path


MAKERS: dict[str, Callable[[Volume, Pod, Place, Sources], Awaitable[Path]]] = {
    **dict.fromkeys(FILLED, fill),
    "emptyDir": empty_dir,
    "hostPath": host_path,
    "persistentVolumeClaim": claim,
    "ephemeral": claim,
    "nfs": claim,
    "csi": claim,
}
