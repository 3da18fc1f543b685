"""One container of a pod: what it may not be; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .checks_env import check_env, check_env_from
from .checks_probes import check_lifecycle, check_probes
from .checks_resources import check_resizing, check_resources
from .checks_security import check_container_security
from .checks_words import PORT_RULE, check_inside, check_label, port_name_problems
from .complaints import absent, duplicate, forbidden, invalid, one_of, required
from .schema import Violation

Body = dict[str, Any]
PROTOCOLS = ("SCTP", "TCP", "UDP")
PULLS = ("Always", "IfNotPresent", "Never")
BLOCKS = ("persistentVolumeClaim", "ephemeral")
ALONE = "may not be set for init containers without restartPolicy=Always"


@dataclass
class Around:
    """What a container stands among."""

    spec: Body
    volumes: dict[str, Body]
    names: set[str] = field(default_factory=set)
    host_ports: set[str] = field(default_factory=set)


def check_container(container: Body, path: str, around: Around, *, first: bool) -> Iterator[Violation]:
    """*first*: it runs before the others, as an init container."""
    yield from check_any(container, path, around)
    name = container["name"]
    if name and name in around.names:
        yield duplicate(f"{path}.name", name)
    around.names.add(name)
    sidecar = first and container.get("restartPolicy") == "Always"
    if first and not sidecar:
        for part in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(part) is not None:
                yield forbidden(f"{path}.{part}", ALONE)
    else:
        grace = around.spec.get("terminationGracePeriodSeconds") or 0
        yield from check_lifecycle(container.get("lifecycle") or {}, f"{path}.lifecycle", grace)
        yield from check_probes(container, path)
    if (policy := container.get("restartPolicy")) is not None:
        if not first:
            yield forbidden(f"{path}.restartPolicy", "may not be set for non-init containers")
        else:
            yield from one_of(policy, f"{path}.restartPolicy", ("Always",))


def check_any(container: Body, path: str, around: Around) -> Iterator[Violation]:
    """What holds for containers of every sort."""
    name, image = container["name"], container.get("image") or ""
    if not name:
        yield required(f"{path}.name")
    else:
        yield from check_label(name, f"{path}.name")
    if not image:
        yield required(f"{path}.image")
    elif image.strip() != image:
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")
    yield from one_of(
        container["terminationMessagePolicy"], f"{path}.terminationMessagePolicy",
        ("File", "FallbackToLogsOnError"),
    )  # fmt: skip
    yield from check_ports(container.get("ports") or [], f"{path}.ports", around)
    yield from check_env(container.get("env") or [], f"{path}.env")
    yield from check_env_from(container.get("envFrom") or [], f"{path}.envFrom")
    yield from check_mounts(container, path, around.volumes)
    yield from check_devices(container, path, around.volumes)
    yield from one_of(container["imagePullPolicy"], f"{path}.imagePullPolicy", PULLS)
    yield from check_resources(container["resources"], f"{path}.resources")
    yield from check_resizing(container.get("resizePolicy") or [], f"{path}.resizePolicy")
    context = container.get("securityContext")
    if context is not None:
        yield from check_container_security(context, around.spec, f"{path}.securityContext")


def check_ports(ports: list[Body], path: str, around: Around) -> Iterator[Violation]:
    names: set[str] = set()
    for i, port in enumerate(ports):
        here, name = f"{path}[{i}]", port.get("name") or ""
        if name:
            problems = list(port_name_problems(name))
            yield from (invalid(f"{here}.name", name, problem) for problem in problems)
            if not problems and name in names:
                yield duplicate(f"{here}.name", name)
            names.add(name)
        if not port["containerPort"]:
            yield required(f"{here}.containerPort")
        elif not 0 < port["containerPort"] < 65536:
            yield invalid(f"{here}.containerPort", port["containerPort"], PORT_RULE)
        number = port.get("hostPort") or 0
        if number and not 0 < number < 65536:
            yield invalid(f"{here}.hostPort", number, PORT_RULE)
        yield from one_of(port["protocol"], f"{here}.protocol", PROTOCOLS)
        if number:
            taken = f"{port['protocol']}/{port.get('hostIP') or ''}/{number}"
            if taken in around.host_ports:
                yield duplicate(f"{here}.hostPort", taken)
            around.host_ports.add(taken)


def check_mounts(container: Body, path: str, volumes: dict[str, Body]) -> Iterator[Violation]:
    # A real server names some fields of a mount without saying which mount it is.
    whole, taken = f"{path}.volumeMounts", set[str]()
    for i, mount in enumerate(container.get("volumeMounts") or ()):
        here, name, at = f"{whole}[{i}]", mount["name"], mount.get("mountPath") or ""
        if not name:
            yield required(f"{here}.name")
        if name not in volumes:
            yield absent(f"{here}.name", name)
        if not at:
            yield required(f"{here}.mountPath")
        elif at in taken:
            yield invalid(f"{here}.mountPath", at, "must be unique")
        taken.add(at)
        if below := mount.get("subPath"):
            yield from check_inside(below, f"{whole}.subPath")
        if below := mount.get("subPathExpr"):
            if mount.get("subPath"):
                why = "subPathExpr and subPath are mutually exclusive"
                yield invalid(f"{here}.subPathExpr", below, why)
            yield from check_inside(below, f"{whole}.subPathExpr")
        yield from check_propagation(mount, container, whole)


def check_propagation(mount: Body, container: Body, path: str) -> Iterator[Violation]:
    if (way := mount.get("mountPropagation")) is not None:
        here = f"{path}.mountPropagation"
        yield from one_of(way, here, ("Bidirectional", "HostToContainer", "None"))
        if way == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
            yield forbidden(
                here, "Bidirectional mount propagation is available only to privileged containers"
            )
    if (way := mount.get("recursiveReadOnly")) is not None:
        here = f"{path}.recursiveReadOnly"
        yield from one_of(way, here, ("Disabled", "Enabled", "IfPossible"))
        if way in ("Enabled", "IfPossible") and not mount.get("readOnly"):
            yield forbidden(here, "may only be specified when readOnly is true")


def check_devices(container: Body, path: str, volumes: dict[str, Body]) -> Iterator[Violation]:
    names, taken = set[str](), set[str]()
    for i, device in enumerate(container.get("volumeDevices") or ()):
        here, name, at = f"{path}.volumeDevices[{i}]", device["name"], device["devicePath"]
        if not name:
            yield required(f"{here}.name")
        elif name in names:
            yield invalid(f"{here}.name", name, "must be unique")
        if name not in volumes:
            yield absent(f"{here}.name", name)
        elif not any(volumes[name].get(kind) for kind in BLOCKS):
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{here}.name", name, why)
        if not at:
            yield required(f"{here}.devicePath")
        elif at in taken:
            yield invalid(f"{here}.devicePath", at, "must be unique")
        elif ".." in at.split("/"):
            yield invalid(f"{here}.devicePath", at, "can not contain backsteps ('..')")
        names.add(name)
        taken.add(at)
