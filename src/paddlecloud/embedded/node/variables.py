"""The environment variables of a container, from what its spec says and what the cluster holds.

Pure: what a container refers to is listed by `references`, fetched by the caller, and handed back. A later
entry wins over an earlier one, `env` over `envFrom`, and `$(NAME)` sees the entries before it.
"""

from __future__ import annotations

import base64
import binascii
import math
import os
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...api.core import ConfigMap, Pod, Secret
from .obstacles import ConfigMissing
from .substitution import expand


class Reference(NamedTuple):
    """A ConfigMap or Secret a container takes values from."""

    kind: type[ConfigMap] | type[Secret]
    name: str


@dataclass(frozen=True)
class Facts:
    """What the values may be taken from besides the spec."""

    pod_ip: str
    host_ip: str
    data: Mapping[Reference, Mapping[str, str] | None] = field(default_factory=dict)
    """Decoded contents; None for an object that does not exist."""
    machine: Mapping[str, str] = field(default_factory=dict)
    """Capacity, for limits that are not set."""
    links: Mapping[str, str] = field(default_factory=dict)
    """The services of the namespace; see `servicelinks`."""


SOURCES: tuple[tuple[str, type[ConfigMap] | type[Secret]], ...] = (
    ("configMapRef", ConfigMap), ("secretRef", Secret),
    ("configMapKeyRef", ConfigMap), ("secretKeyRef", Secret),
)  # fmt: skip
NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def references(container: Mapping[str, Any]) -> set[Reference]:
    places = [
        *(container.get("envFrom") or ()),
        *(e.get("valueFrom") or {} for e in container.get("env") or ()),
    ]
    return {Reference(kind, place[key]["name"]) for place in places for key, kind in SOURCES if key in place}


def variables(container: Mapping[str, Any], pod: Pod, facts: Facts) -> dict[str, str]:
    """The variables of the spec; raises `ConfigMissing` for a reference that leads nowhere."""
    result: dict[str, str] = {}
    known = ChainMap(result, dict(facts.links))
    for source in container.get("envFrom") or ():
        result.update(imported(source, facts))
    for entry in container.get("env") or ():
        if "valueFrom" in entry:
            taken = value_from(entry, container, pod, facts)
            if taken is not None:
                result[entry["name"]] = taken
        else:
            result[entry["name"]] = expand(entry.get("value") or "", known)
    return result


def left_out(container: Mapping[str, Any], pod: Pod, facts: Facts) -> list[str]:
    """What `envFrom` brings that cannot be a variable, in a sentence for each source."""
    sentences = []
    for source in container.get("envFrom") or ():
        for key, kind in SOURCES[:2]:
            if key in source:
                data = facts.data.get(Reference(kind, source[key]["name"])) or {}
                named = sorted((source.get("prefix") or "") + name for name in data)
                wrong = [name for name in named if not NAME.fullmatch(name)]
                what = f"{key.removesuffix('Ref')} {pod.namespace}/{source[key]['name']}"
                sentences += [
                    f"Keys [{', '.join(wrong)}] from the EnvFrom {what} were skipped since they are "
                    "considered invalid environment variable names."
                ] if wrong else []  # fmt: skip
    return sentences


def imported(source: Mapping[str, Any], facts: Facts) -> Iterator[tuple[str, str]]:
    prefix = source.get("prefix") or ""
    for key, kind in SOURCES[:2]:
        if key in source:
            reference = Reference(kind, source[key]["name"])
            data = held(reference, source[key], facts)
            named = ((prefix + name, text) for name, text in (data or {}).items())
            yield from ((name, text) for name, text in named if NAME.fullmatch(name))


def value_from(entry: Mapping[str, Any], container: Mapping[str, Any], pod: Pod, facts: Facts) -> str | None:
    source = entry["valueFrom"]
    if "fieldRef" in source:
        return pod_field(source["fieldRef"]["fieldPath"], pod, facts)
    if "resourceFieldRef" in source:
        return resource_field(source["resourceFieldRef"], container, pod, facts)
    for key, kind in SOURCES[2:]:
        if key in source:
            return key_of(Reference(kind, source[key]["name"]), source[key], pod, facts)
    raise ConfigMissing(f"variable {entry['name']}: valueFrom has no source PaddleCloud knows")


def key_of(reference: Reference, source: Mapping[str, Any], pod: Pod, facts: Facts) -> str | None:
    data = held(reference, source, facts)
    if data is None or (source["key"] not in data and source.get("optional")):
        return None
    if source["key"] not in data:
        keys = ", ".join(sorted(data)) or "none"
        place = f"{reference.kind.kind} {pod.namespace}/{reference.name}"
        raise ConfigMissing(
            f"couldn't find key {source['key']} in {place}",
            next_step=f"add it (there are: {keys}); the container starts by itself",
        )
    return data[source["key"]]


def held(reference: Reference, source: Mapping[str, Any], facts: Facts) -> Mapping[str, str] | None:
    data = facts.data.get(reference)
    if data is None and not source.get("optional"):
        raise ConfigMissing(
            f'{reference.kind.kind.lower()} "{reference.name}" not found',
            next_step="create it; the container starts by itself",
        )
    return data


def pod_field(path: str, pod: Pod, facts: Facts) -> str:
    known = {
        "metadata.name": pod.name,
        "metadata.namespace": pod.namespace,
        "metadata.uid": pod.uid,
        "spec.nodeName": pod.node,
        "spec.serviceAccountName": str(pod.spec.get("serviceAccountName") or "default"),
        "status.podIP": facts.pod_ip,
        "status.podIPs": facts.pod_ip,
        "status.hostIP": facts.host_ip,
        "status.hostIPs": facts.host_ip,
    }
    if path in known:
        return known[path]
    if entry := re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path):
        texts = pod.metadata.labels if entry[1] == "labels" else pod.metadata.annotations
        return texts.get(entry[2], "")
    raise ConfigMissing(f"fieldPath {path} is not known", next_step=f"known: {', '.join(known)}, labels")


def resource_field(source: Mapping[str, Any], container: Mapping[str, Any], pod: Pod, facts: Facts) -> str:
    """A limit or request in units of the divisor, rounded up; an unset limit is the whole machine."""
    which, _, resource = str(source["resource"]).partition(".")
    name = source.get("containerName")
    if name:
        every = (*pod.spec["containers"], *(pod.spec.get("initContainers") or ()))
        container = next((c for c in every if c["name"] == name), container)
    resources = container.get("resources") or {}
    text = (resources.get(which) or {}).get(resource)
    if text is None:
        text = "0" if which == "requests" else facts.machine.get(resource, "0")
    divisor = quantity(str(source.get("divisor") or "1")) or 1.0
    return str(math.ceil(quantity(str(text)) / divisor))


SUFFIXES = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18} | {
    unit + "i": 1024.0 ** (power + 1) for power, unit in enumerate("KMGTPE")
}


def quantity(text: str) -> float:
    """A Kubernetes quantity as a number; raises `ConfigMissing` for what is none."""
    found = re.fullmatch(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)", text.strip())
    if found is None or found[2] not in {"", *SUFFIXES}:
        raise ConfigMissing(f"{text!r} is not a quantity", next_step="write it as 500m, 2, 1.5Gi")
    return float(found[1]) * SUFFIXES.get(found[2], 1.0)


def decoded(name: str, data: Mapping[str, str]) -> dict[str, bytes]:
    """The values of Secret *name*."""
    try:
        return {key: base64.b64decode(text, validate=True) for key, text in data.items()}
    except binascii.Error as error:
        raise ConfigMissing(f"Secret {name} holds a value that is not base64") from error


INHERITED = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """The little of the node's own environment that a container may see."""
    return {"PATH": os.defpath} | {name: environ[name] for name in INHERITED if name in environ}
