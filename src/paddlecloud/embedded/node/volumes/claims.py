"""Persistent volumes: from a claim over its volume to a folder, or to the driver that knows one.

A claim must be bound, and its volume must be one that this machine reaches; else the pod waits and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....api.core import PersistentVolume, PersistentVolumeClaim, Pod, Secret
from ..variables import decoded
from . import hostpath
from .places import Place, Sources, Volume, failed
from .plugins import Request, remember


async def folder_of(volume: Volume, pod: Pod, place: Place, sources: Sources) -> tuple[Path, bool]:
    """The folder of a claim (or of an inline volume of the same kinds), and whether it is of this home."""
    name = volume["name"]
    if "nfs" in volume:
        return of_network(name, volume["nfs"]), False
    if "csi" in volume:
        said = volume["csi"]
        request = {"handle": f"csi-{pod.uid}-{name}", "attributes": said.get("volumeAttributes") or {}}
        return await driven(volume, said, pod, place, sources, **request), False
    claimed = claim_name(volume, pod)
    found = await sources.find(PersistentVolumeClaim, pod.namespace, claimed)
    if found is None:
        why = f'error processing PVC {pod.namespace}/{claimed}: persistentvolumeclaims "{claimed}" not found'
        raise failed(name, why, "create it; the pod goes on by itself")
    key = f"{pod.namespace}/{claimed}"
    if "ephemeral" in volume and found.controlled_by() != pod.uid:
        why = f"PVC {key} was not created for pod {pod.key} (pod is not owner)"
        raise failed(name, why, "delete the claim or rename the volume")
    if not found.bound:
        phase = found.status.get("phase") or "Pending"
        why = f"error processing PVC {key}: PVC {key} has non-bound phase ({phase!r})"
        raise failed(name, why, f"`kubectl describe pvc {claimed}` says what it waits for")
    persistent = await sources.find(PersistentVolume, "", str(found.spec.get("volumeName") or ""))
    if persistent is None:
        raise failed(name, f"PersistentVolume {found.spec.get('volumeName')} of PVC {key} does not exist")
    if (persistent.spec.get("volumeMode") or "Filesystem") != "Filesystem":
        raise failed(name, f"PVC {key} is a block device", "use volumeMode Filesystem")
    if csi := persistent.spec.get("csi"):
        request = {"handle": csi["volumeHandle"], "attributes": csi.get("volumeAttributes") or {}}
        return await driven(volume, csi, pod, place, sources, **request), False
    if nfs := persistent.spec.get("nfs"):
        return of_network(name, nfs), False
    return of_machine(name, persistent, place)


def claim_name(volume: Volume, pod: Pod) -> str:
    if "ephemeral" in volume:
        return f"{pod.name}-{volume['name']}"
    return str(volume["persistentVolumeClaim"]["claimName"])


def of_machine(name: str, persistent: PersistentVolume, place: Place) -> tuple[Path, bool]:
    local = persistent.spec.get("hostPath") or persistent.spec.get("local")
    if not local:
        why = f"PersistentVolume {persistent.name} is of a kind nodes here do not have"
        raise failed(name, why, "use hostPath, local, nfs or a driver that is registered")
    path = Path(hostpath.on_disk(local["path"], place.disk))
    # A volume in our home is ours to make; any other folder is the user's.
    ours = path.parent == place.persistent
    kind = "DirectoryOrCreate" if ours else local.get("type") or "Directory"
    new = not path.exists()
    checked = hostpath.checked(name, str(path), kind)
    if ours and new:
        checked.chmod(0o777)
    return checked, ours


def of_network(name: str, nfs: Mapping[str, Any]) -> Path:
    """A folder of a server that this machine has mounted somewhere."""
    where = f"{nfs.get('server')}:{str(nfs.get('path')).rstrip('/') or '/'}"
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        kind, source = fields[fields.index("-") + 1 :][:2]
        if kind.startswith("nfs") and source.rstrip("/") == where.rstrip("/"):
            return Path(fields[4])
    why = f"{where} is not mounted on this machine, and nodes here do not mount network file systems"
    raise failed(name, why, f"`mount -t nfs {where} FOLDER` as root; the pod goes on by itself")


async def driven(
    volume: Volume, csi: Mapping[str, Any], pod: Pod, place: Place, sources: Sources, **request: Any
) -> Path:
    """The folder that the driver of the volume gives the pod."""
    name, driver = volume["name"], str(csi.get("driver"))
    plugin = place.plugins.get(driver)
    if plugin is None:
        there = ", ".join(sorted(place.plugins)) or "none"
        why = f"driver name {driver} not found in the list of registered CSI drivers"
        raise failed(name, why, f"registered here: {there}")
    claim = volume.get("persistentVolumeClaim") or {}
    asked = Request(
        pod=pod.uid,
        namespace=pod.namespace,
        target=place.folder / name,
        node=pod.node,
        read_only=bool(csi.get("readOnly") or claim.get("readOnly")),
        secrets=await secrets_of(name, csi, pod, sources),
        **request,
    )
    remember(place.folder.parent, driver, asked.target)
    await plugin.stage(asked)
    return await plugin.publish(asked)


async def secrets_of(volume: str, csi: Mapping[str, Any], pod: Pod, sources: Sources) -> dict[str, bytes]:
    said = csi.get("nodePublishSecretRef")
    if not said:
        return {}
    namespace = said.get("namespace") or pod.namespace
    found = await sources.find(Secret, namespace, said["name"])
    if found is None:
        raise failed(volume, f'secret "{said["name"]}" not found', "create it; the pod goes on by itself")
    return decoded(found.name, found.data)
