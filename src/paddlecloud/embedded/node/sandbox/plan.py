"""What a container's sandbox is to look like: its mounts, what it does not see, its limits.

Pure: from the pod, what it stands on and the levels of the node to the parts of `run.json` that the shim's
`containment` and `cgroups` carry out.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....api.core import Pod
from ..substitution import checked_mount_path, expand
from ..variables import quantity
from ..volumes.subpaths import checked
from .levels import Levels
from .probing import HIDDEN

HOME = "/root"
"""Where the pod's home folder is inside; the machine's own is nobody's business."""
FILES = ("resolv.conf", "hosts", "hostname")
MOST_PROCESSES = 4096
"""Of one pod: enough for any program, and the end of a fork bomb."""
LEAST_SHARE = 2 / 1024
"""Of a core."""
READ_ONLY = ("configMap", "secret", "projected", "downwardAPI")
Container = Mapping[str, Any]


@dataclass(frozen=True)
class Site:
    """What of the machine a sandbox is built from."""

    levels: Levels
    platform: Path
    """The home of the platform: hidden, it holds the secrets of all pods."""
    pod_folder: Path
    shown: tuple[str, ...] = ()
    """Folders that a container must see although they may lie in a hidden one: interpreter, environment."""
    shared: tuple[str, ...] = ()
    """The namespaces of the pod's holder."""
    files: tuple[str, ...] = ()
    """Those of `FILES` that the pod's folder has."""
    layers: tuple[str, ...] = ()
    volumes: Mapping[str, Path] = field(default_factory=dict)


def plan_of(pod: Pod, container: Container, site: Site, known: Mapping[str, str]) -> dict[str, Any]:
    """The `sandbox` of run.json, without the mounts of the suite's code and the termination file."""
    context = container.get("securityContext") or {}
    return {
        "root": site.levels.filesystem,
        "layers": list(site.layers),
        "host": not site.layers,
        "hidden": [*HIDDEN, *outside([str(site.platform)], HIDDEN)],
        "shared": list(site.shared),
        "hostPID": bool(pod.spec.get("hostPID")),
        "target": str(container.get("targetContainerName") or ""),
        "privileged": bool(context.get("privileged")),
        "readOnly": bool(context.get("readOnlyRootFilesystem")),
        "mounts": [*of_machine(site), *of_volumes(pod, container, site.volumes, known)],
    }


def of_machine(site: Site) -> list[dict[str, Any]]:
    etc = site.pod_folder / "etc"
    return [
        {"target": HOME, "source": str(site.pod_folder / "home")},
        *({"target": path, "source": path, "readOnly": True} for path in outermost(site.shown)),
        *({"target": f"/etc/{name}", "source": str(etc / name)} for name in site.files),
    ]


def of_volumes(
    pod: Pod, container: Container, found: Mapping[str, Path], known: Mapping[str, str]
) -> list[dict[str, Any]]:
    kinds = {volume["name"]: volume for volume in pod.spec.get("volumes") or ()}
    mounts = []
    for mount in container.get("volumeMounts") or ():
        volume = kinds.get(mount["name"]) or {}
        claim = volume.get("persistentVolumeClaim") or {}
        closed = any(kind in volume for kind in READ_ONLY) or claim.get("readOnly") or mount.get("readOnly")
        mounts.append(
            {
                "target": checked_mount_path(mount["mountPath"]),
                "source": str(found[mount["name"]]),
                "readOnly": bool(closed),
                "subPath": checked(mount.get("subPath") or expand(mount.get("subPathExpr") or "", known)),
            }
        )
    return mounts


def outermost(paths: Iterable[str]) -> list[str]:
    """The paths that lie in no other of them."""
    result: list[str] = []
    for path in sorted({posixpath.normpath(path) for path in paths}):
        result += outside([path], result)
    return result


def outside(paths: Iterable[str], folders: Iterable[str]) -> list[str]:
    kept = list(folders)
    return [p for p in paths if not any(p == f or p.startswith(f.rstrip("/") + "/") for f in kept)]


def group_of(
    pod: Pod, container: Container, run: str, kind: str, groups: Mapping[str, str]
) -> dict[str, Any]:
    """The `cgroup` of run.json; *groups* are those of this home."""
    return {
        "kind": kind,
        "pod": pod_groups(pod.uid, needed(pod, groups)),
        "podLimits": pod_limits(pod),
        "name": run,
        "limits": limits_of(container),
    }


def needed(pod: Pod, groups: Mapping[str, str]) -> dict[str, str]:
    """The groups that this pod enters: the kernel takes its time for each, some hundredths of a second."""
    every = [limits_of(c) for c in (*(pod.spec.get("initContainers") or ()), *pod.spec["containers"])]
    wanted = {
        "memory": any(limits["memory"] for limits in every),
        "cpu": any(limits["cpu"] or limits["shares"] > LEAST_SHARE for limits in every),
    }
    kept = {name: base for name, base in groups.items() if wanted.get(name, name != "cpuacct")}
    # Where time is counted in the same tree it costs nothing.
    if "cpu" in kept and groups.get("cpuacct") == groups["cpu"]:
        kept["cpuacct"] = groups["cpuacct"]
    return kept


def pod_groups(uid: str, groups: Mapping[str, str]) -> dict[str, str]:
    return {controller: os.path.join(base, uid) for controller, base in groups.items()}


def limits_of(container: Container) -> dict[str, Any]:
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    cpu = limits.get("cpu")
    share = requests.get("cpu", cpu)
    return {
        "memory": int(quantity(str(limits["memory"]))) if "memory" in limits else 0,
        "cpu": quantity(str(cpu)) if cpu is not None else 0,
        # Who asks for nothing gets the smallest share, as on Kubernetes.
        "shares": quantity(str(share)) if share is not None else LEAST_SHARE,
    }


def pod_limits(pod: Pod) -> dict[str, Any]:
    """Sums, where every container has a limit; what runs before the others counts by itself."""
    every = [limits_of(c) for c in pod.spec["containers"]]
    first = [limits_of(c) for c in pod.spec.get("initContainers") or ()]
    result: dict[str, Any] = {"pids": MOST_PROCESSES, "shares": sum(limits["shares"] for limits in every)}
    for name in ("memory", "cpu"):
        values = [limits[name] for limits in (*every, *first)]
        if all(values):
            result[name] = max([sum(limits[name] for limits in every), *(limits[name] for limits in first)])
    return result
