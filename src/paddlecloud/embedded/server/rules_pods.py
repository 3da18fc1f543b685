"""Pods and the templates of pods: what a real server fills in, and what it refuses; pure.

`complete_spec` is what every pod spec gets wherever it stands; `begin_pod` what only a new pod gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .facts.scalars import amount
from .names import label_problem
from .schema import Violation

Body = dict[str, Any]
PROTOCOLS = ("SCTP", "TCP", "UDP")
POLICIES = ("Always", "OnFailure", "Never")
DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
MODES = ("configMap", "secret", "downwardAPI", "projected")
PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]([a-z0-9]|-(?!-))*[a-z0-9]|[a-z]")


def complete_pod(pod: Body) -> None:
    spec = pod["spec"]
    complete_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for field in CONTAINERS:
        for container in spec.get(field) or ():
            resources = container["resources"] if field != "ephemeralContainers" else {}
            if limits := resources.get("limits"):
                resources["requests"] = {**limits, **(resources.get("requests") or {})}


def begin_pod(pod: Body) -> None:
    """What admission adds on a real server, and the first status."""
    spec = pod["spec"]
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    given = spec.get("tolerations") or []
    for key in TOLERATED:
        if not any(t.get("key") in (None, key) and t.get("effect") in (None, "NoExecute") for t in given):
            given = [
                *given,
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ]
    spec["tolerations"] = given
    pod["status"].setdefault("phase", "Pending")
    pod["status"].setdefault("qosClass", quality(spec))


def complete_spec(spec: Body) -> None:
    for field, value in (
        ("restartPolicy", "Always"),
        ("terminationGracePeriodSeconds", 30),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
    ):
        spec.setdefault(field, value)
    spec.setdefault("securityContext", {})
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for field in CONTAINERS:
        for container in spec.get(field) or ():
            complete_container(container, host=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        complete_volume(volume)


def complete_container(container: Body, *, host: bool) -> None:
    if "imagePullPolicy" not in container:
        image = container.get("image") or ""
        latest = "@" not in image and (":" not in image.rpartition("/")[2] or image.endswith(":latest"))
        container["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if host:
            port.setdefault("hostPort", port["containerPort"])
    for variable in container.get("env") or ():
        complete_field_ref((variable.get("valueFrom") or {}).get("fieldRef"))
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(field)) is not None:
            complete_probe(probe)
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            complete_http(hook.get("httpGet"))


def complete_probe(probe: Body) -> None:
    for field, value in (
        ("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3),
    ):  # fmt: skip
        probe.setdefault(field, value)
    complete_http(probe.get("httpGet"))
    if (grpc := probe.get("grpc")) is not None and grpc.get("service") is None:
        grpc["service"] = ""


def complete_http(action: Body | None) -> None:
    if action is not None:
        action.setdefault("path", "/")
        action.setdefault("scheme", "HTTP")


def complete_field_ref(ref: Body | None) -> None:
    if ref is not None:
        ref.setdefault("apiVersion", "v1")


def complete_volume(volume: Body) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for kind in MODES:
        if (source := volume.get(kind)) is not None:
            source.setdefault("defaultMode", 420)
    if (host := volume.get("hostPath")) is not None:
        host.setdefault("type", "")
    if (iscsi := volume.get("iscsi")) is not None:
        iscsi.setdefault("iscsiInterface", "default")
    for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            complete_field_ref(item.get("fieldRef"))
        if (token := source.get("serviceAccountToken")) is not None:
            token.setdefault("expirationSeconds", 3600)
    if claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        claim["spec"].setdefault("volumeMode", "Filesystem")


def quality(spec: Body) -> str:
    resources = [c["resources"] for f in CONTAINERS[:2] for c in spec.get(f) or ()]
    if not any(r.get("requests") or r.get("limits") for r in resources):
        return "BestEffort"
    limited = all({"cpu", "memory"} <= set(r.get("limits") or ()) for r in resources)
    equal = all((r.get("requests") or r.get("limits")) == r.get("limits") for r in resources)
    return "Guaranteed" if limited and equal else "Burstable"


def check_pod(pod: Body, old: Body | None) -> Iterator[Violation]:
    spec = pod["spec"]
    if old is not None:
        if changed := counted(spec, old["spec"]):
            if not spec.get("containers"):
                yield Violation("spec.containers", "FieldValueRequired", "Required value")
            why = "Forbidden: pod updates may not add or remove containers"
            yield Violation(f"spec.{changed}", "FieldValueForbidden", why)
        elif frozen(spec) != frozen(old.get("spec") or {}):
            yield Violation(
                "spec",
                "FieldValueForbidden",
                "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
                "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
                "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
                "(allow it to be set to 1 if it was previously negative)",
            )
        return
    yield from check_spec(spec, "spec")


def check_spec(spec: Body, path: str) -> Iterator[Violation]:
    """A pod's spec, wherever it stands."""
    volumes: set[str] = set()
    for i, volume in enumerate(spec.get("volumes") or ()):
        yield from check_name(volume["name"], f"{path}.volumes[{i}].name", volumes)
    if not spec.get("containers"):
        yield Violation(f"{path}.containers", "FieldValueRequired", "Required value")
    seen: set[str] = set()
    for field in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(field) or ()):
            yield from check_container(container, f"{path}.{field}[{i}]", seen, volumes)
    yield from one_of(spec["restartPolicy"], f"{path}.restartPolicy", POLICIES)
    yield from one_of(spec["dnsPolicy"], f"{path}.dnsPolicy", DNS)
    if (deadline := spec.get("activeDeadlineSeconds")) is not None and not 0 < deadline < 1 << 31:
        why = f"Invalid value: {deadline}: must be between 1 and 2147483647, inclusive"
        yield Violation(f"{path}.activeDeadlineSeconds", "FieldValueInvalid", why)


def check_container(container: Body, path: str, seen: set[str], volumes: set[str]) -> Iterator[Violation]:
    yield from check_name(container["name"], f"{path}.name", seen)
    image = container.get("image") or ""
    if not image:
        yield Violation(f"{path}.image", "FieldValueRequired", "Required value")
    elif image.strip() != image:
        yield Violation(
            f"{path}.image", "FieldValueInvalid",
            f'Invalid value: "{image}": must not have leading or trailing whitespace',
        )  # fmt: skip
    for i, port in enumerate(container.get("ports") or ()):
        yield from check_port(port["containerPort"], f"{path}.ports[{i}].containerPort")
        yield from one_of(port["protocol"], f"{path}.ports[{i}].protocol", PROTOCOLS)
    for i, variable in enumerate(container.get("env") or ()):
        if not variable["name"]:
            yield Violation(f"{path}.env[{i}].name", "FieldValueRequired", "Required value")
    for i, mount in enumerate(container.get("volumeMounts") or ()):
        here = f"{path}.volumeMounts[{i}]"
        if not mount["name"]:
            yield Violation(f"{here}.name", "FieldValueRequired", "Required value")
        elif mount["name"] not in volumes:
            yield Violation(f"{here}.name", "FieldValueNotFound", f'Not found: "{mount["name"]}"')
        if not mount.get("mountPath"):
            yield Violation(f"{here}.mountPath", "FieldValueRequired", "Required value")
    yield from one_of(
        container["imagePullPolicy"], f"{path}.imagePullPolicy", ("Always", "IfNotPresent", "Never")
    )
    yield from one_of(
        container["terminationMessagePolicy"],
        f"{path}.terminationMessagePolicy",
        ("File", "FallbackToLogsOnError"),
    )
    yield from check_resources(container["resources"], f"{path}.resources")
    for field in PROBES:
        if (probe := container.get(field)) is not None:
            yield from check_probe(probe, f"{path}.{field}")


def check_resources(resources: Body, path: str) -> Iterator[Violation]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, value in amounts.items():
            if amount(value) < 0:
                why = f'Invalid value: "{value}": must be greater than or equal to 0'
                yield Violation(f"{path}.{field}[{name}]", "FieldValueInvalid", why)
    for name, value in requests.items():
        if name in limits and amount(value) > amount(limits[name]):
            why = f'Invalid value: "{value}": must be less than or equal to {name} limit of {limits[name]}'
            yield Violation(f"{path}.requests", "FieldValueInvalid", why)


def check_probe(probe: Body, path: str) -> Iterator[Violation]:
    if not any(handler in probe for handler in HANDLERS):
        yield Violation(path, "FieldValueRequired", "Required value: must specify a handler type")
    for field in (
        "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold",
    ):  # fmt: skip
        if probe.get(field, 0) < 0:
            why = f"Invalid value: {probe[field]}: must be greater than or equal to 0"
            yield Violation(f"{path}.{field}", "FieldValueInvalid", why)


def check_name(name: str, path: str, seen: set[str]) -> Iterator[Violation]:
    """A name that is one word and the only one of its kind in the pod."""
    if not name:
        yield Violation(path, "FieldValueRequired", "Required value")
    elif problem := label_problem(name):
        yield Violation(path, "FieldValueInvalid", f'Invalid value: "{name}": {problem}')
    elif name in seen:
        yield Violation(path, "FieldValueDuplicate", f'Duplicate value: "{name}"')
    seen.add(name)


def check_port(port: int, path: str) -> Iterator[Violation]:
    if not port:
        yield Violation(path, "FieldValueRequired", "Required value")
    elif not 0 < port < 65536:
        yield Violation(
            path, "FieldValueInvalid", f"Invalid value: {port}: must be between 1 and 65535, inclusive"
        )


def one_of(value: str, path: str, allowed: Iterable[str]) -> Iterator[Violation]:
    if value not in allowed:
        supported = ", ".join(f'"{v}"' for v in allowed)
        yield Violation(
            path, "FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {supported}'
        )


def counted(spec: Body, old: Body) -> str:
    """The list of containers that has another length now, or an empty text."""
    for field in ("containers", "initContainers"):
        if len(spec.get(field) or ()) != len(old.get(field) or ()):
            return field
    return ""


def frozen(spec: Body) -> Body:
    """The part of a pod's spec that never changes."""
    kept = {
        k: v
        for k, v in spec.items()
        if k not in ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds")
    }
    for field in ("containers", "initContainers"):
        if field in kept:
            kept[field] = [{k: v for k, v in c.items() if k != "image"} for c in kept[field]]
    return kept
