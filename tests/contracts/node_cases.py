"""Pods as cases: what they are made of, when they have come where the case wants them, and what is then said.

Addresses, times and identities differ from run to run: of these only the presence is compared.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

Body = dict[str, Any]
IMAGE = "busybox"


def read(name: str) -> dict[str, Body]:
    found: dict[str, Body] = yaml.safe_load(Path(__file__).with_name(name).read_text())
    return found


def pod(name: str, spec: Body, **metadata: Any) -> Body:
    """The manifest; what nearly every case wants need not be written."""
    whole = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **spec}
    for kind in ("initContainers", "containers"):
        if kind in whole:
            whole[kind] = [container(c) for c in whole[kind]]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": whole}


def container(given: Body) -> Body:
    return {"name": "main", "image": IMAGE, "imagePullPolicy": "IfNotPresent", **given}


def has_come(until: str, status: Body) -> bool:
    """Whether a pod is where a case wants it.

    A phase; `ready`; `restarted` and running again; `NAME runs`; or the reason a container waits for.
    """
    containers = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    if until in ("Succeeded", "Failed"):
        return status.get("phase") == until
    if until == "ready":
        return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ()))
    if until == "restarted":
        return any(c["restartCount"] == 1 and c["ready"] for c in containers)
    if until.endswith(" runs"):
        return any(c["name"] == until.split()[0] and "running" in c["state"] for c in containers)
    return any(c["state"].get("waiting", {}).get("reason") == until for c in containers)


SOME = "<some>"
FLEETING = ("containerID", "imageID", "image", "podIP", "hostIP", "startTime", "startedAt", "finishedAt", "lastTransitionTime", "uid")


def shape(said: Any) -> Any:
    """What was said, without what no two runs have in common."""
    if isinstance(said, dict):
        return {k: SOME if k in FLEETING and v else shape(v) for k, v in said.items() if v is not None and k not in ("lastProbeTime", "podIPs", "hostIPs")}
    if isinstance(said, list):
        return [shape(item) for item in said]
    if isinstance(said, str):
        return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|[0-9a-f]{32,}|test-[0-9a-f]{8}", SOME, said)
    return said
