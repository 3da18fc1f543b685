"""The standards of pod security: what a pod does that its namespace does not want; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .complaints import invalid
from .schema import Violation

Body = dict[str, Any]
PREFIX = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")
MODES = ("enforce", "audit", "warn")
DEFAULT_CAPABILITIES = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
    "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}  # fmt: skip
SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
}  # fmt: skip
PLAIN_VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected",
    "secret", "image",
}  # fmt: skip
PROFILE = "securityContext.seccompProfile.type"


def check_levels(namespace: Body, _: Body | None) -> Iterator[Violation]:
    """The labels of a namespace that name a level."""
    for mode in MODES:
        key = f"{PREFIX}{mode}"
        level = (namespace["metadata"].get("labels") or {}).get(key)
        if level is not None and level not in LEVELS:
            yield invalid(f"metadata.labels[{key}]", level, f"must be one of {', '.join(LEVELS)}")


def level_of(namespace: Body, mode: str) -> tuple[str, str]:
    """The level and the version that a namespace asks for in a mode."""
    labels = namespace["metadata"].get("labels") or {}
    return labels.get(f"{PREFIX}{mode}") or LEVELS[0], labels.get(f"{PREFIX}{mode}-version") or "latest"


def violated(spec: Body, level: str) -> str:
    """What of the standard the pod breaks, in one line; empty where it keeps it."""
    found = []
    for check, levels in CHECKS:
        if level in levels and (problem := check(spec)):
            found.append(problem)
    return ", ".join(found)


def host_namespaces(spec: Body) -> str:
    used = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    return f"host namespaces ({', '.join(used)})" if used else ""


def host_paths(spec: Body) -> str:
    names = [v["name"] for v in spec.get("volumes") or () if v.get("hostPath")]
    return f"hostPath volumes ({called('volume', names)})" if names else ""


def host_ports(spec: Body) -> str:
    ports = {
        c["name"]: [str(p["hostPort"]) for p in c.get("ports") or () if p.get("hostPort")]
        for c in containers(spec)
    }
    names = [name for name, used in ports.items() if used]
    if not names:
        return ""
    numbers = sorted({number for used in ports.values() for number in used}, key=int)
    verb, noun = ("uses" if len(names) == 1 else "use"), ("hostPort" if len(numbers) == 1 else "hostPorts")
    return f"hostPort ({called('container', names)} {verb} {noun} {', '.join(numbers)})"


def privileged(spec: Body) -> str:
    names = [c["name"] for c in containers(spec) if context(c).get("privileged")]
    what = f"{called('container', names)} must not set securityContext.privileged=true"
    return f"privileged ({what})" if names else ""


def proc_mounts(spec: Body) -> str:
    names = [c["name"] for c in containers(spec) if context(c).get("procMount", "Default") != "Default"]
    what = f'{called("container", names)} must not set securityContext.procMount to "Unmasked"'
    return f"procMount ({what})" if names else ""


def sysctls(spec: Body) -> str:
    names = [s["name"] for s in context(spec).get("sysctls") or () if s["name"] not in SAFE_SYSCTLS]
    return f"forbidden sysctls ({', '.join(names)})" if names else ""


def baseline_capabilities(spec: Body) -> str:
    return capabilities(spec, "non-default capabilities", DEFAULT_CAPABILITIES, drop=False)


def restricted_capabilities(spec: Body) -> str:
    return capabilities(spec, "unrestricted capabilities", {"NET_BIND_SERVICE"}, drop=True)


def capabilities(spec: Body, title: str, allowed: set[str], *, drop: bool) -> str:
    silent, adding, added = [], [], set[str]()
    for container in containers(spec):
        given = context(container).get("capabilities") or {}
        more = set(given.get("add") or ()) - allowed
        if more:
            adding.append(container["name"])
            added |= more
        if drop and "ALL" not in (given.get("drop") or ()):
            silent.append(container["name"])
    parts = []
    if silent:
        parts.append(f'{called("container", silent)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        listed = ", ".join(f'"{name}"' for name in sorted(added))
        who = called("container", adding)
        parts.append(f"{who} must not include {listed} in securityContext.capabilities.add")
    return f"{title} ({'; '.join(parts)})" if parts else ""


def unconfined(spec: Body) -> str:
    parts = []
    if (context(spec).get("seccompProfile") or {}).get("type") == "Unconfined":
        parts.append("pod")
    names = [
        c["name"] for c in containers(spec)
        if (context(c).get("seccompProfile") or {}).get("type") == "Unconfined"
    ]  # fmt: skip
    if names:
        parts.append(called("container", names))
    return f'seccompProfile ({" and ".join(parts)} must not set {PROFILE} to "Unconfined")' if parts else ""


def profiled(spec: Body) -> str:
    if problem := unconfined(spec):
        return problem
    if context(spec).get("seccompProfile"):
        return ""
    names = [c["name"] for c in containers(spec) if not context(c).get("seccompProfile")]
    what = f'pod or {called("container", names)} must set {PROFILE} to "RuntimeDefault" or "Localhost"'
    return f"seccompProfile ({what})" if names else ""


def escalation(spec: Body) -> str:
    names = [c["name"] for c in containers(spec) if context(c).get("allowPrivilegeEscalation") is not False]
    what = f"{called('container', names)} must set securityContext.allowPrivilegeEscalation=false"
    return f"allowPrivilegeEscalation != false ({what})" if names else ""


def volume_types(spec: Body) -> str:
    used: dict[str, list[str]] = {}
    for volume in spec.get("volumes") or ():
        for kind in sorted(volume.keys() - PLAIN_VOLUMES - {"name"}):
            used.setdefault(kind, []).append(volume["name"])
    if not used:
        return ""
    names = [name for found in used.values() for name in found]
    kinds = ", ".join(f'"{kind}"' for kind in sorted(used))
    verb = "uses" if len(names) == 1 else "use"
    noun = "type" if len(used) == 1 else "types"
    return f"restricted volume types ({called('volume', names)} {verb} restricted volume {noun} {kinds})"


def as_root(spec: Body) -> str:
    """Neither the pod nor a container may leave open who it runs as."""
    own = context(spec).get("runAsNonRoot")
    refusing = [c["name"] for c in containers(spec) if context(c).get("runAsNonRoot") is False]
    if own is False or refusing:
        parts = (["pod"] if own is False else []) + ([called("container", refusing)] if refusing else [])
        return f"runAsNonRoot != true ({' and '.join(parts)} must not set securityContext.runAsNonRoot=false)"
    silent = [c["name"] for c in containers(spec) if not context(c).get("runAsNonRoot")]
    if own or not silent:
        return ""
    what = f"pod or {called('container', silent)} must set securityContext.runAsNonRoot=true"
    return f"runAsNonRoot != true ({what})"


def root_user(spec: Body) -> str:
    parts = ["pod"] if context(spec).get("runAsUser") == 0 else []
    names = [c["name"] for c in containers(spec) if context(c).get("runAsUser") == 0]
    if names:
        parts.append(called("container", names))
    return f"runAsUser=0 ({' and '.join(parts)} must not set runAsUser=0)" if parts else ""


def containers(spec: Body) -> Iterator[Body]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def context(body: Body) -> Body:
    return body.get("securityContext") or {}


def called(word: str, names: list[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"{word}{'' if len(names) == 1 else 's'} {listed}"


BOTH, BASELINE, RESTRICTED = LEVELS[1:], LEVELS[1:2], LEVELS[2:]
CHECKS: tuple[tuple[Callable[[Body], str], tuple[str, ...]], ...] = (
    (baseline_capabilities, BASELINE),
    (host_namespaces, BOTH),
    (host_paths, BASELINE),
    (host_ports, BOTH),
    (privileged, BOTH),
    (proc_mounts, BOTH),
    (unconfined, BASELINE),
    (sysctls, BOTH),
    (escalation, RESTRICTED),
    (restricted_capabilities, RESTRICTED),
    (volume_types, RESTRICTED),
    (as_root, RESTRICTED),
    (root_user, RESTRICTED),
    (profiled, RESTRICTED),
)
