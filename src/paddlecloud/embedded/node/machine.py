"""What this machine has and what a virtual node gives out of it; measured once, at the start.

Virtual nodes stand on one machine. Each says what the machine has (capacity), and gives to pods (allocatable)
its share: memory, storage and GPUs that were promised twice would be missing in the end. Time of processors
can be shared, so that nobody gets less than one.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ... import __version__
from . import procfs
from .confines import Confines, confines, read_file
from .devices import Gpu, gpus, share

HOST_ADDRESS = "127.0.0.1"
MOST_PODS = 250
GPU = "nvidia.com/gpu"
KUBERNETES = "v1.33.13"
"""The version whose behaviour the nodes follow."""
RESERVE = 100 * 1024
"""KiB of memory that are nobody's: below that a node is under pressure."""
STORED = 0.9
"""The part of a disk that is given out."""
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Machine:
    capacity: Mapping[str, str]
    info: Mapping[str, str]
    isolation: Mapping[str, str] = field(default_factory=dict)
    """How far pods are kept apart: file system, network and limits, each in words."""
    allocatable: Mapping[str, str] = field(default_factory=dict)
    """What one node gives to its pods."""
    gpus: tuple[Gpu, ...] = ()
    no_fuse: str = "not tried"
    """Why programs cannot serve file systems here; empty: they can."""

    @property
    def room(self) -> Mapping[str, str]:
        """What a pod of any node can count on."""
        return self.allocatable or self.capacity


@dataclass(frozen=True)
class Declared:
    """What the user says about the nodes, true or not."""

    pretend_gpus: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


def measure(home: Path, nodes: int = 1) -> Machine:
    """What is there for *nodes* nodes."""
    around = confines(read_file)
    capacity = amounts(around, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), home)
    return Machine(capacity, information(), allocatable=shared(capacity, nodes), gpus=gpus())


def amounts(around: Confines, memory: int, home: Path) -> dict[str, str]:
    cores = len(os.sched_getaffinity(0))
    cpus = cores if around.cpus is None else min(cores, around.cpus)
    return {
        "cpu": cores_text(cpus),
        "memory": f"{min(memory, around.memory or memory) // 1024}Ki",
        "ephemeral-storage": f"{shutil.disk_usage(home).total // 1024}Ki",
        "pods": str(MOST_PODS),
    }


def shared(capacity: Mapping[str, str], nodes: int) -> dict[str, str]:
    """What each of *nodes* nodes gives out of a machine of this capacity."""
    cpus = cores_of(capacity["cpu"])
    memory = max(0, int(capacity["memory"].removesuffix("Ki")) - RESERVE)
    storage = int(capacity["ephemeral-storage"].removesuffix("Ki")) * STORED
    return {
        **capacity,
        "cpu": cores_text(max(min(cpus, 1.0), cpus / nodes)),
        "memory": f"{memory // nodes}Ki",
        "ephemeral-storage": f"{int(storage) // nodes}Ki",
    }


def with_gpus(
    amounts: Mapping[str, str], machine: Machine, declared: Declared, names: Sequence[str], name: str
) -> dict[str, str]:
    """The same with the GPUs of one node: its own, or those it is to pretend."""
    own = len(share(machine.gpus, len(names), names.index(name)))
    count = declared.pretend_gpus or own
    return {**amounts, GPU: str(count)} if count else dict(amounts)


def cores_text(cpus: float) -> str:
    return str(int(cpus)) if cpus == int(cpus) else f"{int(cpus * 1000)}m"


def cores_of(text: str) -> float:
    return int(text[:-1]) / 1000 if text.endswith("m") else float(text)


def information() -> dict[str, str]:
    identity = first_line("/etc/machine-id") or procfs.boot().replace("-", "")
    return {
        "machineID": identity,
        "systemUUID": first_line("/sys/class/dmi/id/product_uuid") or identity,
        "bootID": procfs.boot(),
        "kernelVersion": platform.release(),
        "osImage": os_name(),
        "containerRuntimeVersion": f"paddlecloud://{__version__}",
        "kubeletVersion": KUBERNETES,
        "kubeProxyVersion": KUBERNETES,
        "operatingSystem": "linux",
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
    }


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
