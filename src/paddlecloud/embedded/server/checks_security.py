"""With which rights a pod and its containers run: what they may not ask for; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .checks_words import check_inside
from .complaints import duplicate, forbidden, invalid, one_of, required, unquoted, unsupported
from .schema import Violation

Body = dict[str, Any]
HIGHEST_ID = 2**31 - 1
SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?")
SYSCTL_RULE = (
    r"must have at most 253 characters and match regex "
    r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
)
PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
# Parts of the kernel that a pod shares with its node when it asks to.
SHARED = {"hostIPC": ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."), "hostNetwork": ("net.",)}


def check_pod_security(spec: Body, path: str) -> Iterator[Violation]:
    context = spec.get("securityContext") or {}
    here = f"{path}.securityContext"
    if spec.get("hostNetwork"):
        yield from check_host_ports(spec, path)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{here}.shareProcessNamespace", True, why)
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        yield from check_id(context.get(field), f"{here}.{field}")
    for i, group in enumerate(context.get("supplementalGroups") or ()):
        yield from check_id(group, f"{here}.supplementalGroups[{i}]")
    yield from check_sysctls(context.get("sysctls") or [], spec, f"{here}.sysctls")
    if policy := context.get("fsGroupChangePolicy"):
        yield from one_of(policy, f"{here}.fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    yield from check_profiles(context, here)
    if policy := context.get("supplementalGroupsPolicy"):
        yield from one_of(policy, f"{here}.supplementalGroupsPolicy", ("Merge", "Strict"))


def check_host_ports(spec: Body, path: str) -> Iterator[Violation]:
    for i, container in enumerate(spec.get("containers") or ()):
        for j, port in enumerate(container.get("ports") or ()):
            if port.get("hostPort") and port["hostPort"] != port["containerPort"]:
                why = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f"{path}.containers[{i}].ports[{j}].hostPort", port["hostPort"], why)


def check_host_users(spec: Body, path: str) -> Iterator[Violation]:
    if spec.get("hostUsers") is not False:
        return
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field):
            yield forbidden(f"{path}.{field}", "when `pod.Spec.HostUsers` is false")


def check_sysctls(sysctls: list[Body], spec: Body, path: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for i, sysctl in enumerate(sysctls):
        name, here = sysctl["name"], f"{path}[{i}].name"
        if not name:
            yield required(here)
        elif len(name) > 253 or not SYSCTL.fullmatch(name):
            yield invalid(here, name, SYSCTL_RULE)
        elif name in seen:
            yield duplicate(here, name)
        for field, prefixes in SHARED.items():
            if spec.get(field) and name.replace("/", ".").startswith(prefixes):
                yield invalid(here, name, f"may not be specified when '{field}' is true")
        seen.add(name)


def check_container_security(context: Body, spec: Body, path: str) -> Iterator[Violation]:
    for field in ("runAsUser", "runAsGroup"):
        yield from check_id(context.get(field), f"{path}.{field}")
    if (mount := context.get("procMount")) is not None:
        here = f"{path}.procMount"
        yield from one_of(mount, here, ("Default", "Unmasked"))
        if mount == "Unmasked" and spec.get("hostUsers") is not False:
            yield invalid(here, mount, "`hostUsers` must be false to use `Unmasked`")
    yield from check_profiles(context, path)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield unquoted(path, "core.SecurityContext{…}", why)
        for capability in (context.get("capabilities") or {}).get("add") or ():
            if capability == "CAP_SYS_ADMIN":
                why = f"cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` {capability}"
                yield unquoted(path, "core.SecurityContext{…}", why)


def check_profiles(context: Body, path: str) -> Iterator[Violation]:
    """The profiles of seccomp and AppArmor."""
    for field, name in (("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")):
        if (profile := context.get(field)) is None:
            continue
        kind, own, here = profile["type"], profile.get("localhostProfile"), f"{path}.{field}"
        if kind == "Localhost":
            if not own:
                why = f"must be set when {name} type is Localhost"
                yield required(f"{here}.localhostProfile", why)
            elif name == "seccomp":
                yield from check_inside(own, f"{here}.localhostProfile")
        elif own is not None:
            why = f"can only be set when {name} type is Localhost"
            yield unquoted(f"{here}.localhostProfile", f"core.{field[0].upper()}{field[1:]}{{…}}", why)
        if not kind:
            yield required(f"{here}.type", "type is required when " + field + " is set")
        elif kind not in PROFILES:
            yield unsupported(f"{here}.type", kind, PROFILES)


def check_id(number: int | None, path: str) -> Iterator[Violation]:
    """The number of a user or a group."""
    if number is not None and not 0 <= number <= HIGHEST_ID:
        yield invalid(path, number, f"must be between 0 and {HIGHEST_ID}, inclusive")
