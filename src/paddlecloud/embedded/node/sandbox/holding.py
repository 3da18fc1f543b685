"""The holders of pods, as the node sees them: wished for, found by their records, ended.

A holder outlives the node; what is known of it is in the pod's folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....api.core import Pod
from .. import attempts, procfs
from ..holder import RECORD, WISH
from ..volumes import emptydir


def namespaces_of(pod: Pod, separate_network: bool) -> tuple[str, ...]:
    """What the containers of *pod* share with each other and not with the machine."""
    spec = pod.spec
    on_host = bool(spec.get("hostNetwork"))
    found = [] if spec.get("hostIPC") else ["ipc"]
    # A pod on the machine's network has the machine's name, too.
    found += [] if on_host else ["uts"]
    found += ["net"] if separate_network and not on_host else []
    found += ["pid"] if spec.get("shareProcessNamespace") and not spec.get("hostPID") else []
    # The memory of a pod is mounted once, where all its containers find it.
    found += ["mnt"] if any(map(emptydir.wants_memory, spec.get("volumes") or ())) else []
    return tuple(found)


def hostname(pod: Pod) -> str:
    return str(pod.spec.get("hostname") or pod.name)[:63].rstrip("-.")


def wish(
    pod: Pod,
    folder: Path,
    namespaces: tuple[str, ...],
    network: Mapping[str, Any],
    memory: Mapping[str, int],
) -> None:
    """Write down what the holder is to make, and the file of its name; *memory*: paths and their bytes."""
    content: dict[str, Any] = {"namespaces": list(namespaces), "hostname": hostname(pod)}
    content["memory"] = dict(memory)
    if "net" in namespaces:
        content["network"] = dict(network)
    (folder / WISH).write_text(json.dumps(content), encoding="utf-8")
    if "uts" in namespaces:
        etc = folder / "etc"
        etc.mkdir(exist_ok=True)
        (etc / "hostname").write_text(hostname(pod) + "\n", encoding="utf-8")


def rewish(folder: Path, network: Mapping[str, Any]) -> None:
    """Write down how a pod that has a holder is to be connected now."""
    content = attempts.content(folder / WISH) | {"network": dict(network)}
    new = folder / f"{WISH}.new"
    new.write_text(json.dumps(content), encoding="utf-8")
    new.rename(folder / WISH)


def pid_of(folder: Path) -> int:
    """The process that holds the pod in *folder*; 0: none does."""
    record = attempts.content(folder / RECORD)
    return int(record["pid"]) if procfs.is_alive(record, "pid") else 0


def end(folder: Path, patience: float = 5.0) -> None:
    """Kill the holder and wait until it is gone."""
    fd = attempts.open_process(attempts.content(folder / RECORD), "pid")
    if fd is None:
        return
    try:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        select.select([fd], [], [], patience)
    finally:
        os.close(fd)
