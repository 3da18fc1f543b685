"""Who is who among the containers of a pod: those that run first, those beside them, those it is about.

Pure readings of the spec. A sidecar is an init container that is restarted always: it is started in the order
of the init containers, runs on beside the others and is stopped after them. A visitor is an ephemeral
container: it comes when the pod runs already, runs once, and counts for nothing the pod is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...api.core import Pod

Container = Mapping[str, Any]
DEFAULT_GRACE = 30.0


def first(pod: Pod) -> list[Container]:
    """The init containers, sidecars included, in their order."""
    return list(pod.spec.get("initContainers") or ())


def mains(pod: Pod) -> list[Container]:
    return list(pod.spec["containers"])


def visitors(pod: Pod) -> list[Container]:
    return list(pod.spec.get("ephemeralContainers") or ())


def own(pod: Pod) -> list[Container]:
    """Those the pod was made with."""
    return [*first(pod), *mains(pod)]


def every(pod: Pod) -> list[Container]:
    return [*own(pod), *visitors(pod)]


def names(pod: Pod) -> list[str]:
    return [container["name"] for container in every(pod)]


def named(pod: Pod, name: str) -> Container:
    return next(container for container in every(pod) if container["name"] == name)


def sidecars(pod: Pod) -> list[Container]:
    return [container for container in first(pod) if is_sidecar(container)]


def is_sidecar(container: Container) -> bool:
    """Only for init containers: for the others the field has no such meaning."""
    return container.get("restartPolicy") == "Always"


def is_first(pod: Pod, name: str) -> bool:
    return any(container["name"] == name for container in first(pod))


def is_visitor(pod: Pod, name: str) -> bool:
    return any(container["name"] == name for container in visitors(pod))


def field(pod: Pod, name: str) -> str:
    """Where the container stands in the spec."""
    if is_visitor(pod, name):
        return "ephemeralContainers"
    return "initContainers" if is_first(pod, name) else "containers"


def policy(pod: Pod) -> str:
    return str(pod.spec.get("restartPolicy") or "Always")


def grace(pod: Pod) -> float:
    """Seconds between the request to stop and the end of patience."""
    said = pod.spec.get("terminationGracePeriodSeconds")
    return DEFAULT_GRACE if said is None else float(said)


def hook(container: Container, moment: str) -> Mapping[str, Any] | None:
    """What is to be done at `postStart` or `preStop`."""
    return (container.get("lifecycle") or {}).get(moment)
