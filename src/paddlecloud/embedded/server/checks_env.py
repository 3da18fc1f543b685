"""Environment variables of containers and references to fields: what they may not be; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .checks_words import check_key, check_qualified, check_subdomain
from .complaints import invalid, required, unsupported
from .facts.scalars import amount
from .schema import Violation

Body = dict[str, Any]
NAME = re.compile(r"[ -<>-~]+")
NAME_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='"
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
# Fields of a pod that have a name for selectors, though not every place may refer to them.
NAMED = (
    *FIELDS, "metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName",
    "spec.hostNetwork", "status.phase", "status.nominatedNodeName",
)  # fmt: skip
AMOUNTS = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
SUBSCRIPT = re.compile(r"(metadata\.(?:annotations|labels))\['(.*)'\]")
UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def check_env(variables: list[Body], path: str) -> Iterator[Violation]:
    for i, variable in enumerate(variables):
        here, name = f"{path}[{i}]", variable["name"]
        if not name:
            yield required(f"{here}.name")
        elif not NAME.fullmatch(name):
            yield invalid(f"{here}.name", name, NAME_RULE)
        if (source := variable.get("valueFrom")) is not None:
            yield from check_source(source, bool(variable.get("value")), f"{here}.valueFrom")


def check_source(source: Body, has_value: bool, path: str) -> Iterator[Violation]:
    given = [kind for kind in SOURCES if source.get(kind) is not None]
    for kind in given:
        ref, here = source[kind], f"{path}.{kind}"
        if kind == "fieldRef":
            yield from check_field_ref(ref, here, FIELDS)
        elif kind == "resourceFieldRef":
            yield from check_resource_ref(ref, here)
        else:
            yield from check_subdomain(ref.get("name") or "", f"{here}.name")
            if not ref["key"]:
                yield required(f"{here}.key")
            else:
                yield from check_key(ref["key"], f"{here}.key")
    if not given:
        why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        yield invalid(path, "", why)
    elif has_value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def check_field_ref(ref: Body, path: str, supported: tuple[str, ...]) -> Iterator[Violation]:
    field, version = ref.get("fieldPath") or "", ref.get("apiVersion") or ""
    here = f"{path}.fieldPath"
    if not version:
        yield required(f"{path}.apiVersion")
    elif not field:
        yield required(here)
    elif subscript := SUBSCRIPT.fullmatch(field):
        # The keys of annotations may have capital letters.
        key = subscript[2].lower() if subscript[1].endswith("annotations") else subscript[2]
        yield from check_qualified(key, path)
    elif version != "v1":
        yield invalid(here, field, f"error converting fieldPath: unsupported pod version: {version}")
    elif field not in NAMED:
        yield invalid(here, field, f"error converting fieldPath: field label not supported: {field}")
    elif field not in supported:
        yield unsupported(here, field, supported)


def check_resource_ref(ref: Body, path: str, *, in_volume: bool = False) -> Iterator[Violation]:
    name = ref.get("resource") or ""
    if in_volume and not ref.get("containerName"):
        yield required(f"{path}.containerName")
    elif not name:
        yield required(f"{path}.resource")
    elif name not in AMOUNTS and not name.removeprefix("limits.").removeprefix("requests.").startswith(
        "hugepages-"
    ):
        yield unsupported(f"{path}.resource", name, AMOUNTS)
    what, divisor = name.rpartition(".")[2], amount(ref.get("divisor") or "0")
    allowed = ("1m", "1") if what == "cpu" else UNITS
    if name in AMOUNTS and divisor and divisor not in {amount(u) for u in allowed}:
        listed = " and ".join(allowed) if what == "cpu" else ", ".join(allowed)
        why = f"only divisor's values {listed} are supported with the {what} resource"
        yield invalid(f"{path}.divisor", name, why)


def check_env_from(sources: list[Body], path: str) -> Iterator[Violation]:
    for i, source in enumerate(sources):
        if (prefix := source.get("prefix")) and not NAME.fullmatch(prefix):
            yield invalid(f"{path}[{i}].prefix", prefix, NAME_RULE)
        given = [kind for kind in ("configMapRef", "secretRef") if source.get(kind) is not None]
        for kind in given:
            name, here = source[kind].get("name") or "", f"{path}[{i}].{kind}.name"
            if not name:
                yield required(here)
            else:
                yield from check_subdomain(name, here)
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")
