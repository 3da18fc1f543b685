"""What stands for the mount paths of a container; conflicts and paths that make no sense are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....api.core import Pod
from ..obstacles import VolumeMissing
from ..substitution import checked_mount_path, expand
from . import emptydir
from .emptydir import EVERY
from .filling import FILLED
from .places import ACCESS, Place
from .subpaths import below


def mounts(
    container: Mapping[str, Any], found: Mapping[str, Path], known: Mapping[str, str] | None = None
) -> dict[str, Path]:
    """The paths of *container* and what stands for them; *known* are the variables of `subPathExpr`."""
    result: dict[str, Path] = {}
    for mount in container.get("volumeMounts") or ():
        if mount["name"] not in found:
            there = ", ".join(sorted(name for name in found if not name.startswith(ACCESS))) or "none"
            raise VolumeMissing(
                f"container {container['name']} mounts volume {mount['name']}, which the pod does not have",
                next_step=f"declare it under spec.volumes; there are: {there}",
            )
        path = checked_mount_path(mount["mountPath"])
        if path in result:
            raise VolumeMissing(f"container {container['name']} mounts two volumes at {path}")
        sub = mount.get("subPath") or ""
        if not sub and known is not None:
            sub = expand(mount.get("subPathExpr") or "", known)
        result[path] = below(found[mount["name"]], sub, resolve=known is not None)
    return result


def lacks(pod: Pod, container: Mapping[str, Any], place: Place) -> list[str]:
    """What of the container's mounts this node does not do, each with the way out."""
    found = []
    kinds = {volume["name"]: volume for volume in pod.spec.get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        path, said = mount["mountPath"], kinds.get(mount["name"]) or {}
        if mount.get("mountPropagation") not in (None, "None"):
            found.append(f"mountPropagation at {path}: mounts made later on either side stay there")
        if place.closed and mount.get("readOnly") and not set(said) & set(FILLED):
            found.append(f"readOnly at {path}: plain processes can write there; run as root for mounts")
        if place.closed and emptydir.wants_memory(said) and place.memory is None:
            found.append(f"memory at {path}: /dev/shm is not a file system in memory here, a folder is used")
        elif place.closed and emptydir.wants_memory(said) and said["emptyDir"].get("sizeLimit"):
            found.append(
                f"sizeLimit at {path}: looked at every {EVERY:.0f} s instead of enforced; run as root"
            )
    return found
