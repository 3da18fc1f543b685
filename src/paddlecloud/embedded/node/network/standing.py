"""What a pod is told of the network it stands on: its files, its variables, who looks at its calls; pure.

The DNS of the cluster is told of only where a pod can reach it: on port 53, or where its calls to any
resolver are sent to the port it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ....api.core import Pod
from . import podfiles
from .podfiles import Resolution

NAMES_PORT = 53


@dataclass(frozen=True)
class Standing:
    """The network of a node, as its pods see it."""

    host: str = ""
    port: int = 0
    """Where the DNS of the cluster answers; 0: nowhere."""
    machine: Resolution = field(default_factory=Resolution)
    watched: bool = False
    """Whether shims look at the calls of pods; see `notify`."""

    @property
    def reachable(self) -> str:
        return self.host if self.port == NAMES_PORT or (self.port and self.watched) else ""


def files(pod: Pod, address: str, standing: Standing) -> dict[str, str]:
    """Those of `/etc` that a pod with a root of its own gets."""
    found = podfiles.resolution(pod, standing.reachable, standing.machine)
    return {"resolv.conf": found.text(), "hosts": podfiles.hosts(pod, address)}


def told(order: Mapping[str, Any], pod: Pod, address: str, standing: Standing) -> dict[str, Any]:
    """The content of `run.json` with what concerns the network; a pod on the machine's own is left alone."""
    result = dict(order)
    context = [c.get("securityContext") or {} for c in pod.spec["containers"]]
    if pod.spec.get("hostNetwork") or not address or any(c.get("privileged") for c in context):
        return result
    found = podfiles.resolution(pod, standing.reachable, standing.machine)
    ours = bool(standing.reachable) and standing.reachable in found.servers
    if standing.watched:
        result["network"] = {"address": address}
        # Who sees the machine's resolv.conf asks the machine's resolver: that question is ours, too.
        if ours and (standing.port != NAMES_PORT or "sandbox" not in order):
            result["network"]["dns"] = [standing.host, standing.port]
    if ours and standing.watched and "sandbox" not in order:
        result["env"] = {**podfiles.variables(found), **order["env"]}
    return result
