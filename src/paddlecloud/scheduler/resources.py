"""What a pod asks for and what a node has, resource by resource; pure.

The arithmetic is that of Kubernetes: containers run together with all sidecars; an init container runs
beside the sidecars that were started before it; the pod needs the larger of the two, and its overhead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..api.core import Node, Pod
from .quantities import amount

Amounts = dict[str, int]
POD_LEVEL = ("cpu", "memory")
UNSAID = {"cpu": 100, "memory": 200 * 2**20}
"""What a container that asks for nothing is taken to use when nodes are compared."""


def requests(pod: Pod) -> Amounts:
    """What the pod needs while it lives; raises `ValueError` for a quantity that is none."""
    spec = pod.spec
    return with_pod_level(spec, together(spec, asked))


def likely(pod: Pod) -> tuple[int, int]:
    """The cpu and memory the pod is taken to use, silent containers included."""

    def guessed(container: Mapping[str, Any]) -> Amounts:
        return UNSAID | asked(container)

    found = with_pod_level(pod.spec, together(pod.spec, guessed))
    return found.get("cpu", 0), found.get("memory", 0)


def together(spec: Mapping[str, Any], of: Any) -> Amounts:
    running: Amounts = {}
    for container in spec.get("containers") or ():
        add(running, of(container))
    beginning: Amounts = {}
    sidecars: Amounts = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            add(running, of(container))
            add(sidecars, of(container))
            at_once = sidecars
        else:
            at_once = dict(sidecars)
            add(at_once, of(container))
        raise_to(beginning, at_once)
    raise_to(running, beginning)
    return running


def with_pod_level(spec: Mapping[str, Any], found: Amounts) -> Amounts:
    """What is said of the pod as a whole counts in the place of its containers; overhead comes on top."""
    whole = asked(spec)
    found |= {n: v for n, v in whole.items() if n in POD_LEVEL or n.startswith("hugepages-")}
    add(found, read((spec.get("overhead") or {}).items()))
    return found


def asked(container: Mapping[str, Any]) -> Amounts:
    resources = container.get("resources") or {}
    # A limit without a request is a request.
    return read(((resources.get("limits") or {}) | (resources.get("requests") or {})).items())


def allocatable(node: Node) -> Amounts:
    """What pods may use of a node; what cannot be read is not there."""
    found: Amounts = {}
    for name, quantity in (node.status.get("allocatable") or {}).items():
        try:
            found[name] = amount(name, quantity)
        except ValueError:
            continue
    return found


def read(quantities: Iterable[tuple[str, Any]]) -> Amounts:
    return {name: amount(name, quantity) for name, quantity in quantities}


def add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def raise_to(total: Amounts, least: Mapping[str, int]) -> None:
    for name, value in least.items():
        total[name] = max(total.get(name, 0), value)
