"""Who a container is to run as, from the securityContext of pod and container.

Pure. What a container says goes before what its pod says. What the level cannot give is not a reason to keep
a pod from running: `lacks` says it in words, once, in an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....api.core import Pod
from ..obstacles import ConfigMissing
from .identity import CAPABILITIES
from .levels import Levels

USUAL = (
    "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "NET_BIND_SERVICE",
    "NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP",
)  # fmt: skip
"""What a container may do when nobody says otherwise."""
Context = Mapping[str, Any]


def user_of(pod: Pod, container: Mapping[str, Any]) -> dict[str, Any]:
    """The `user` of run.json; raises `ConfigMissing` where the pod contradicts itself."""
    context = combined(pod, container)
    uid = int(context.get("runAsUser") or 0)
    if context.get("runAsNonRoot") and uid == 0:
        raise ConfigMissing(
            "container has runAsNonRoot and image will run as root "
            f'(pod: "{pod.name}_{pod.namespace}({pod.uid})", container: {container["name"]})',
            next_step="set runAsUser to a number other than 0",
        )
    groups = [int(group) for group in context.get("supplementalGroups") or ()]
    if context.get("fsGroup") is not None:
        groups.append(int(context["fsGroup"]))
    privileged = bool(context.get("privileged"))
    return {
        "uid": uid,
        "gid": int(context.get("runAsGroup") or 0),
        "groups": sorted(set(groups)),
        "capabilities": None if privileged else capabilities(context.get("capabilities") or {}),
        "noNewPrivileges": context.get("allowPrivilegeEscalation") is False and not privileged,
    }


def combined(pod: Pod, container: Mapping[str, Any]) -> dict[str, Any]:
    return {**(pod.spec.get("securityContext") or {}), **(container.get("securityContext") or {})}


def capabilities(said: Context) -> list[str]:
    dropped, added = named(said.get("drop")), named(said.get("add"))
    held = set() if "ALL" in dropped else set(USUAL) - dropped
    held |= set(CAPABILITIES) if "ALL" in added else added
    return sorted(held & set(CAPABILITIES))


def named(names: Any) -> set[str]:
    return {str(name).upper().removeprefix("CAP_") for name in names or ()}


def lacks(pod: Pod, container: Mapping[str, Any], levels: Levels) -> list[str]:
    """What *container* asks for and a node of these levels does not give, in words."""
    context = combined(pod, container)
    uid, privileged = int(context.get("runAsUser") or 0), bool(context.get("privileged"))
    added = named((context.get("capabilities") or {}).get("add")) - set(USUAL)
    found = []
    if levels.filesystem == "plain":
        if uid or context.get("runAsGroup"):
            found.append("runAsUser and runAsGroup (it runs as the user of PaddleCloud)")
        if context.get("readOnlyRootFilesystem"):
            found.append("readOnlyRootFilesystem")
        if privileged or added:
            found.append("privileged and added capabilities")
        if pod.spec.get("shareProcessNamespace"):
            found.append("shareProcessNamespace (it sees all processes of the machine)")
    elif levels.user_namespace:
        if context.get("supplementalGroups") or context.get("fsGroup") is not None:
            found.append("fsGroup and supplementalGroups (one user has one group)")
        if privileged or added:
            found.append("privileged and added capabilities beyond the pod's own namespaces")
    return found
