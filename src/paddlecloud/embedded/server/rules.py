"""What is particular to a built-in kind: its defaults and what its objects may not be; pure.

Custom kinds have a schema instead. A rule changes the body it is given, which is always a fresh one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import BadRequest
from .definitions import check_definition, default_definition
from .names import label_problem
from .schema import Violation

Body = dict[str, Any]
CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")


def leave(_: Body) -> None:
    pass


def allow(_: Body, __: Body | None) -> Iterator[Violation]:
    return iter(())


@dataclass(frozen=True)
class Rules:
    default: Callable[[Body], None] = leave
    check: Callable[[Body, Body | None], Iterator[Violation]] = allow
    """Given the new and the old body."""


def default_pod(pod: Body) -> None:
    spec = pod.setdefault("spec", {})
    if not isinstance(spec, dict):
        return
    for field, value in (
        ("restartPolicy", "Always"),
        ("terminationGracePeriodSeconds", 30),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
        ("securityContext", {}),
        ("enableServiceLinks", True),
    ):
        spec.setdefault(field, value)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        if not isinstance(container, dict):
            continue
        image = str(container.get("image") or "")
        latest = ":" not in image.rpartition("/")[2] or image.endswith(":latest")
        container.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
        container.setdefault("resources", {})
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
        for port in container.get("ports") or ():
            port.setdefault("protocol", "TCP")
    pod.setdefault("status", {}).setdefault("phase", "Pending")
    pod["status"].setdefault("qosClass", quality(spec))


def quality(spec: Body) -> str:
    resources = [c.get("resources") or {} for c in spec.get("containers") or () if isinstance(c, dict)]
    if not any(r.get("requests") or r.get("limits") for r in resources):
        return "BestEffort"
    limited = all({"cpu", "memory"} <= set(r.get("limits") or ()) for r in resources)
    equal = all((r.get("requests") or r.get("limits")) == r.get("limits") for r in resources)
    return "Guaranteed" if limited and equal else "Burstable"


def check_pod(pod: Body, old: Body | None) -> Iterator[Violation]:
    spec = pod.get("spec") or {}
    if old is not None:
        if frozen(spec) != frozen(old.get("spec") or {}):
            yield Violation(
                "spec",
                "FieldValueForbidden",
                "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
                "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
                "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds`",
            )
        return
    if not spec.get("containers"):
        yield Violation("spec.containers", "FieldValueRequired", "Required value")
        return
    if spec["restartPolicy"] not in ("Always", "OnFailure", "Never"):
        yield Violation(
            "spec.restartPolicy",
            "FieldValueNotSupported",
            f'Unsupported value: "{spec["restartPolicy"]}": supported values: "Always", "OnFailure", "Never"',
        )
    volumes = {v.get("name") for v in spec.get("volumes") or ()}
    seen: set[str] = set()
    for field in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(field) or ()):
            yield from check_container(container, f"spec.{field}[{i}]", seen, volumes)


def check_container(container: Body, path: str, seen: set[str], volumes: set[Any]) -> Iterator[Violation]:
    name = container.get("name") or ""
    if not name:
        yield Violation(f"{path}.name", "FieldValueRequired", "Required value")
    elif problem := label_problem(name):
        yield Violation(f"{path}.name", "FieldValueInvalid", f'Invalid value: "{name}": {problem}')
    elif name in seen:
        yield Violation(f"{path}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"')
    seen.add(name)
    if not container.get("image"):
        yield Violation(f"{path}.image", "FieldValueRequired", "Required value")
    for i, mount in enumerate(container.get("volumeMounts") or ()):
        here = f"{path}.volumeMounts[{i}]"
        if mount.get("name") not in volumes:
            yield Violation(f"{here}.name", "FieldValueNotFound", f'Not found: "{mount.get("name")}"')
        if not mount.get("mountPath"):
            yield Violation(f"{here}.mountPath", "FieldValueRequired", "Required value")


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


def default_service(service: Body) -> None:
    spec = service.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port.get("port"))
    service.setdefault("status", {}).setdefault("loadBalancer", {})


def check_service(service: Body, old: Body | None) -> Iterator[Violation]:
    spec = service.get("spec") or {}
    if not spec.get("ports") and spec.get("clusterIP") != "None" and spec["type"] != "ExternalName":
        yield Violation("spec.ports", "FieldValueRequired", "Required value")
    before = ((old or {}).get("spec") or {}).get("clusterIP")
    if before and spec.get("clusterIP") != before:
        yield Violation(
            "spec.clusterIPs[0]",
            "FieldValueInvalid",
            f'Invalid value: "{spec.get("clusterIP")}": field is immutable',
        )


def default_namespace(namespace: Body) -> None:
    namespace.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    namespace.setdefault("status", {}).setdefault("phase", "Active")
    # Selecting namespaces by name is done through this label.
    labels = namespace["metadata"].setdefault("labels", {})
    labels.setdefault("kubernetes.io/metadata.name", namespace["metadata"]["name"])


def default_secret(secret: Body) -> None:
    secret.setdefault("type", "Opaque")
    for key, text in (secret.pop("stringData", None) or {}).items():
        secret.setdefault("data", {})[key] = base64.b64encode(str(text).encode()).decode()


def check_secret(secret: Body, old: Body | None) -> Iterator[Violation]:
    for value in (secret.get("data") or {}).values():
        try:
            base64.b64decode(value or "", validate=True)
        except (ValueError, TypeError) as error:
            # The value itself is a secret: it is not repeated.
            raise BadRequest(
                'Secret in version "v1" cannot be handled as a Secret: illegal base64 data'
            ) from error
    yield from check_keys(secret, old)


def check_keys(body: Body, _: Body | None) -> Iterator[Violation]:
    for field in ("data", "binaryData"):
        for key in body.get(field) or ():
            if not CONFIG_KEY.fullmatch(key):
                yield Violation(
                    f"{field}[{key}]",
                    "FieldValueInvalid",
                    f'Invalid value: "{key}": a valid config key must consist of alphanumeric characters, '
                    "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                    "validation is '[-._a-zA-Z0-9]+')",
                )


def default_claim(claim: Body) -> None:
    claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    claim.setdefault("status", {}).setdefault("phase", "Pending")


def default_volume(volume: Body) -> None:
    spec = volume.setdefault("spec", {})
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    volume.setdefault("status", {}).setdefault("phase", "Available")


def default_stateful_set(body: Body) -> None:
    body.setdefault("spec", {}).setdefault("replicas", 1)
    body.setdefault("status", {}).setdefault("replicas", 0)


RULES: dict[str, Rules] = {
    "/pods": Rules(default_pod, check_pod),
    "/services": Rules(default_service, check_service),
    "/namespaces": Rules(default_namespace),
    "/secrets": Rules(default_secret, check_secret),
    "/configmaps": Rules(check=check_keys),
    "/persistentvolumeclaims": Rules(default_claim),
    "/persistentvolumes": Rules(default_volume),
    "apps/statefulsets": Rules(default_stateful_set),
    "apiextensions.k8s.io/customresourcedefinitions": Rules(default_definition, check_definition),
}
NO_RULES = Rules()


def rules_of(resource: str) -> Rules:
    return RULES.get(resource, NO_RULES)
