"""Volumes whose files come from the cluster: ConfigMaps, Secrets, fields of the pod, tokens, or several.

`fill` may be called at any time: it writes only what differs, and readers see the old files or the new ones,
never a mixture.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from ....api.core import ConfigMap, Pod, Secret
from ..variables import decoded
from . import downward, ownership, tokens
from .content import File, Files, chosen, map_data, mode_of
from .layout import read, write
from .places import Place, Sources, Volume, failed

SECRET = ("secret", "projected")
"""Their files go to memory where there is some."""


async def fill(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Path:
    """The folder of *volume* with what the cluster says now."""
    path = folder_of(volume, place)
    files = await files_of(volume, pod, place, sources)
    write(path, closed(files) if place.closed else files, not place.closed, ownership.group_of(pod))
    return path


def folder_of(volume: Volume, place: Place) -> Path:
    secret = any(kind in volume for kind in SECRET)
    return place.secret(volume["name"]) if secret else place.folder / volume["name"]


def closed(files: Files) -> Files:
    return {name: File(file.content, file.mode & 0o700 or 0o400) for name, file in files.items()}


async def files_of(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Files:
    kind = next(kind for kind in FILLED if kind in volume)
    return await FILLED[kind](volume, pod, place, sources)


async def config_map(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Files:
    said = volume["configMap"]
    found = await sources.find(ConfigMap, pod.namespace, said["name"])
    return chosen(volume["name"], "configmap", said, None if found is None else map_data(found))


async def secret(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Files:
    said = volume["secret"]
    name = said.get("secretName") or said.get("name") or ""
    found = await sources.find(Secret, pod.namespace, name)
    data = None if found is None else decoded(name, found.data)
    return chosen(volume["name"], "secret", {**said, "name": name}, data)


async def downward_api(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Files:
    said = volume["downwardAPI"]
    return downward.files(volume["name"], said, pod, place.machine)


async def projected(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Files:
    said = volume["projected"]
    files: Files = {}
    for source in said.get("sources") or ():
        [(kind, what)] = source.items()
        part = {"name": volume["name"], kind: {"defaultMode": mode_of(said), **(what or {})}}
        if kind == "serviceAccountToken":
            files |= await token(part, pod, place, sources)
        elif kind in ("configMap", "secret", "downwardAPI"):
            files |= await FILLED[kind](part, pod, place, sources)
        else:
            why = f"sources of kind {kind} are not there on these nodes"
            raise failed(volume["name"], why, "put the certificates into a ConfigMap and project that")
    return files


async def token(volume: Volume, pod: Pod, place: Place, sources: Sources) -> Files:
    said = volume["serviceAccountToken"]
    before = read(place.secret(volume["name"])).get(said["path"])
    if before is None or tokens.due(before, place.now):
        seconds = int(said.get("expirationSeconds") or tokens.USUAL)
        before = await sources.token(pod, said.get("audience") or "", seconds)
    return {said["path"]: File(before, mode_of(said))}


def token_due(volume: Volume, place: Place) -> bool:
    """Whether a token among the sources of a projected volume is to be replaced."""
    before = read(place.secret(volume["name"]))
    said = [s["serviceAccountToken"] for s in volume["projected"]["sources"] if "serviceAccountToken" in s]
    return any(tokens.due(before.get(one["path"], b""), place.now) for one in said)


FILLED: dict[str, Callable[[Volume, Pod, Place, Sources], Awaitable[Files]]] = {
    "configMap": config_map,
    "secret": secret,
    "downwardAPI": downward_api,
    "projected": projected,
}
