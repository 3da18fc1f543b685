"""Volumes of a pod as folders of its own: made once, in one step, from what the cluster holds.

A volume that lacks something raises `VolumeMissing`: the pod waits and the next look tries again. A folder
appears under its name only when it is whole. Claims and host paths are used where they are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ...api.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret
from ...api.meta import Resource
from .obstacles import VolumeMissing
from .substitution import checked_mount_path
from .variables import decoded

R = TypeVar("R", bound=Resource)
ACCESS = "kube-api-access"
ACCESS_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
Volume = Mapping[str, Any]


class Sources(Protocol):
    """Where the contents come from."""

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None: ...

    async def access_files(self, pod: Pod) -> dict[str, bytes]:
        """`token`, `ca.crt` and `namespace` for the pod's service account."""
        ...


@dataclass(frozen=True)
class Place:
    """Where the volumes of one pod are made, and where persistent ones of this home lie."""

    folder: Path
    persistent: Path


async def prepare(pod: Pod, place: Place, sources: Sources) -> dict[str, Path]:
    """The real folder or file of every volume of *pod*, by name."""
    place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = {}
    for volume in pod.spec.get("volumes") or ():
        found[volume["name"]] = await one(volume, pod, place, sources)
    if pod.spec.get("automountServiceAccountToken", True):
        found[ACCESS] = await access(pod, place, sources)
    return found


def mounts(container: Mapping[str, Any], found: Mapping[str, Path]) -> dict[str, Path]:
    """The paths of *container* and what stands for them."""
    result = {ACCESS_PATH: found[ACCESS]} if ACCESS in found else {}
    for mount in container.get("volumeMounts") or ():
        if mount["name"] not in found:
            raise VolumeMissing(
                f"container {container['name']} mounts volume {mount['name']}, which the pod does not have",
                next_step=f"declare it under spec.volumes; there are: {', '.join(sorted(found)) or 'none'}",
            )
        path = checked_mount_path(mount["mountPath"])
        if path in result and path != ACCESS_PATH:
            raise VolumeMissing(f"container {container['name']} mounts two volumes at {path}")
        result[path] = below(found[mount["name"]], mount.get("subPath") or "")
    return result


def below(folder: Path, sub_path: str) -> Path:
    if not sub_path:
        return folder
    if sub_path.startswith("/") or ".." in sub_path.split("/"):
        raise VolumeMissing(f"subPath {sub_path!r} leads out of its volume", next_step="use a path inside it")
    path = folder / sub_path
    if not path.exists():
        path.mkdir(parents=True)
    return path


async def one(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    for kind, make in MAKERS.items():
        if kind in volume:
            return await make(volume, pod, place, sources)
    kinds = ", ".join(key for key in volume if key != "name") or "nothing"
    raise VolumeMissing(
        f"volume {volume['name']} is of a kind nodes here do not have: {kinds}",
        next_step=f"use one of {', '.join(MAKERS)}",
    )


async def empty_dir(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    path = place.folder / str(volume["name"])
    path.mkdir(exist_ok=True)
    return path


async def config_map(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    said = volume["configMap"]
    found = await sources.find(ConfigMap, pod.namespace, said["name"])
    data = None if found is None else {key: text.encode() for key, text in found.data.items()}
    files = chosen(f"ConfigMap {said['name']}", said, data)
    return filled(place.folder / volume["name"], files, int(said.get("defaultMode") or 0o644))


async def secret(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    said = volume["secret"]
    found = await sources.find(Secret, pod.namespace, said["secretName"])
    data = None if found is None else decoded(said["secretName"], found.data)
    files = chosen(f"Secret {said['secretName']}", said, data)
    # Closed whatever the mode asked for: without a mount namespace other users of the machine see the path.
    return filled(place.folder / volume["name"], files, 0o600)


async def access(pod: Pod, place: Place, sources: Sources) -> Path:
    path = place.folder / ACCESS
    return path if path.exists() else filled(path, await sources.access_files(pod), 0o600)


async def host_path(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    said = volume["hostPath"]
    return on_host(f"hostPath of volume {volume['name']}", said["path"], said.get("type") or "")


async def claim(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    name = volume["persistentVolumeClaim"]["claimName"]
    found = await sources.find(PersistentVolumeClaim, pod.namespace, name)
    if found is None:
        raise VolumeMissing(f"PersistentVolumeClaim {name} does not exist", next_step="create it")
    if not found.bound:
        raise VolumeMissing(
            f"PersistentVolumeClaim {name} is {found.status.get('phase') or 'Pending'}, not Bound",
            next_step=f"`pdc describe pvc {name}` says what it waits for",
        )
    volume_name = str(found.spec.get("volumeName") or "")
    persistent = await sources.find(PersistentVolume, "", volume_name)
    if persistent is None:
        raise VolumeMissing(f"PersistentVolume {volume_name} of claim {name} does not exist")
    local = persistent.spec.get("hostPath") or persistent.spec.get("local")
    if not local:
        raise VolumeMissing(f"PersistentVolume {volume_name} is neither hostPath nor local")
    path = Path(local["path"])
    # A volume in our home is ours to make; any other folder is the user's.
    kind = "DirectoryOrCreate" if path.is_relative_to(place.persistent) else local.get("type") or "Directory"
    return on_host(f"PersistentVolume {volume_name}", local["path"], kind)


MAKERS: dict[str, Callable[[Volume, Pod, Place, Sources], Awaitable[Path]]] = {
    "emptyDir": empty_dir,
    "configMap": config_map,
    "secret": secret,
    "hostPath": host_path,
    "persistentVolumeClaim": claim,
}


def on_host(what: str, text: str, kind: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or ".." in path.parts:
        raise VolumeMissing(f"{what}: {text!r} is not an absolute path without `..`")
    try:
        if kind == "DirectoryOrCreate":
            path.mkdir(parents=True, exist_ok=True)
        elif kind == "FileOrCreate" and not path.exists():
            path.touch()
    except OSError as error:
        raise VolumeMissing(f"{what}: cannot make {path}: {error.strerror}") from error
    fits = {
        "": lambda: True, "Directory": path.is_dir, "DirectoryOrCreate": path.is_dir,
        "File": path.is_file, "FileOrCreate": path.is_file, "Socket": path.is_socket,
    }  # fmt: skip
    if kind not in fits:
        raise VolumeMissing(f"{what}: type {kind} is not known", next_step=f"known: {', '.join(fits)}")
    if not fits[kind]():
        raise VolumeMissing(
            f"{what}: {path} is not there or not a {kind}", next_step="make it on this machine"
        )
    return path


def chosen(what: str, said: Mapping[str, Any], data: Mapping[str, bytes] | None) -> dict[str, bytes]:
    """The files of a ConfigMap or Secret volume: all keys, or `items` under their paths."""
    optional = bool(said.get("optional"))
    if data is None and not optional:
        raise VolumeMissing(f"{what} does not exist", next_step="create it; the pod goes on by itself")
    data = data or {}
    items = said.get("items")
    if not items:
        return dict(data)
    files = {}
    for item in items:
        path = item["path"]
        if path.startswith("/") or ".." in path.split("/"):
            raise VolumeMissing(f"{what}: path {path!r} of key {item['key']} leads out of the volume")
        if item["key"] in data:
            files[path] = data[item["key"]]
        elif not optional:
            keys = ", ".join(sorted(data)) or "none"
            raise VolumeMissing(f"{what} has no key {item['key']} (it has: {keys})")
    return files


def filled(path: Path, files: Mapping[str, bytes], mode: int) -> Path:
    """A folder with these files, there as a whole or not at all; one that is there stays as it is."""
    if path.exists():
        return path
    making = path.with_name(path.name + ".making")
    if making.exists():
        shutil.rmtree(making)
    making.mkdir(mode=0o700)
    for name, content in files.items():
        target = making / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode), "wb") as file:
            file.write(content)
        target.chmod(mode)
    return making.rename(path)
