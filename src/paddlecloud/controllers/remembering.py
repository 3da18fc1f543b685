"""What controllers keep of objects in their caches; pure.

Most of a pod is for the node that runs it. Where no scheduler shares the caches, a controller is content with
who a pod is, what it asks for and how it does: thousands of pods fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..api.core import ConfigMap, Pod
from ..api.meta import Resource
from .joblogs import without_content

Remembered = Mapping[type[Resource], Callable[[Any], Any]]

POD = {
    "affinity", "dnsPolicy", "enableServiceLinks", "imagePullSecrets", "preemptionPolicy", "priority",
    "securityContext", "tolerations",
}  # fmt: skip
CONTAINER = {
    "args", "command", "env", "envFrom", "imagePullPolicy", "lifecycle", "livenessProbe", "readinessProbe",
    "securityContext", "startupProbe", "terminationMessagePath", "terminationMessagePolicy", "volumeMounts",
}  # fmt: skip
ASKED = {"secret", "persistentVolumeClaim"}
STATUS = {"hostIPs", "podIPs", "qosClass"}
CONTAINER_STATUS = {"allocatedResources", "containerID", "imageID", "resources", "volumeMounts"}


def without_description(pod: Pod) -> Pod:
    """The same pod without what only its node has to know."""
    spec, status = lacking(pod.spec, POD), lacking(pod.status, STATUS)
    if "volumes" in spec:
        # Whose keys a pod has and which data it reads is asked; where the rest comes from is not.
        spec["volumes"] = [volume for volume in spec["volumes"] or () if ASKED & volume.keys()]
    for name in ("containers", "initContainers"):
        if name in spec:
            spec[name] = [lacking(c, CONTAINER) for c in spec[name] or ()]
    for name in ("containerStatuses", "initContainerStatuses"):
        if name in status:
            status[name] = [lacking(s, CONTAINER_STATUS) for s in status[name] or ()]
    return pod.but(spec=spec, status=status)


def lacking(value: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if name not in names}


def once_finished(pod: Pod) -> Pod:
    """A scheduler wants to know all of a pod that is to run; of one that has ended nobody does."""
    return without_description(pod) if pod.finished else pod


EVERYWHERE: Remembered = {ConfigMap: without_content, Pod: once_finished}
WITHOUT_A_SCHEDULER: Remembered = {**EVERYWHERE, Pod: without_description}
