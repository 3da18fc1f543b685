"""The machine as a Node object: what it has, what it is, and that it is well."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import __version__
from ...api.core import Node
from . import shim
from .podstatus import timestamp

HOST_ADDRESS = "127.0.0.1"
MOST_PODS = 250
GPU = "nvidia.com/gpu"
KUBERNETES = "v1.33.13"
"""The version whose behaviour the nodes follow."""


@dataclass(frozen=True)
class Machine:
    """What was measured once, at the start."""

    capacity: Mapping[str, str]
    info: Mapping[str, str]
    isolation: Mapping[str, str] = field(default_factory=dict)
    """How far pods are kept apart: file system, network and limits, each in words."""


@dataclass(frozen=True)
class Declared:
    """What the user says about the nodes, true or not."""

    pretend_gpus: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


def measure(home: Path) -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    capacity = {
        "cpu": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory // 1024}Ki",
        "ephemeral-storage": f"{shutil.disk_usage(home).total // 1024}Ki",
        "pods": str(MOST_PODS),
    }
    identity = first_line("/etc/machine-id") or shim.boot().replace("-", "")
    info = {
        "machineID": identity,
        "systemUUID": identity,
        "bootID": shim.boot(),
        "kernelVersion": platform.release(),
        "osImage": os_name(),
        "containerRuntimeVersion": f"paddlecloud://{__version__}",
        "kubeletVersion": KUBERNETES,
        "kubeProxyVersion": KUBERNETES,
        "operatingSystem": "linux",
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine()),
    }
    return Machine(capacity, info)


def node_object(name: str, machine: Machine, declared: Declared, now: float, since: float) -> Node:
    """The Node to register; *since* is when it became ready, *now* the heartbeat."""
    capacity = dict(machine.capacity)
    if declared.pretend_gpus:
        capacity[GPU] = str(declared.pretend_gpus)
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": machine.info["operatingSystem"],
        "kubernetes.io/arch": machine.info["architecture"],
        **declared.labels,
    }
    status: dict[str, Any] = {
        "capacity": capacity,
        "allocatable": capacity,
        "nodeInfo": dict(machine.info),
        "addresses": [
            {"type": "InternalIP", "address": HOST_ADDRESS},
            {"type": "Hostname", "address": name},
        ],
        "conditions": conditions(machine, declared, timestamp(now), timestamp(since)),
    }
    annotations = {f"paddlecloud.org/isolation-{what}": said for what, said in machine.isolation.items()}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return Node.read({"metadata": metadata, "spec": {}, "status": status})


def conditions(machine: Machine, declared: Declared, now: str, since: str) -> list[dict[str, str]]:
    found = [condition("Ready", "True", "NodeReady", "the node runs pods")]
    if said := machine.isolation.get("filesystem"):
        apart = not said.startswith("plain")
        reason = "Namespaces" if apart else "PlainProcesses"
        found.append(condition("PodsIsolated", str(apart), reason, said))
    if said := machine.isolation.get("network"):
        reason = "RoutedPods" if said.startswith("routed") else "LoopbackPods"
        found.append(condition("NetworkUnavailable", "False", reason, said))
    if declared.pretend_gpus:
        message = f"{declared.pretend_gpus} GPUs are declared, not there; pods that ask for them run on CPU"
        found.append(condition("PretendedDevices", "True", "Declared", message))
    return [c | {"lastHeartbeatTime": now, "lastTransitionTime": since} for c in found]


def condition(kind: str, status: str, reason: str, message: str) -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""
