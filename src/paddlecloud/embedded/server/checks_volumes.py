"""The volumes of a pod: what they may not be; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .checks_claims import check_claim_spec
from .checks_env import check_field_ref, check_resource_ref
from .checks_words import check_file, check_label, check_mode, check_no_backsteps, check_subdomain
from .complaints import duplicate, forbidden, invalid, one_of, required
from .facts.scalars import amount
from .schema import Violation

Body = dict[str, Any]
HOST_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
IN_VOLUMES = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
)  # fmt: skip
SHORTEST, LONGEST = 600, 1 << 32  # seconds a token in a volume may be good for


def check_volumes(volumes: list[Body], path: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for i, volume in enumerate(volumes):
        yield from check_sources(volume, f"{path}[{i}]")
        name, here = volume["name"], f"{path}[{i}].name"
        if not name:
            yield required(here)
        else:
            yield from check_label(name, here)
        if name and name in seen:
            yield duplicate(here, name)
        seen.add(name)


def check_sources(volume: Body, path: str) -> Iterator[Violation]:
    """Exactly one source, and a sound one."""
    given = [kind for kind in (*CHECKS, *(k for k in volume if k not in CHECKS)) if given_as(volume, kind)]
    if given and given[0] in CHECKS:
        yield from CHECKS[given[0]](volume[given[0]], f"{path}.{given[0]}")
    for kind in given[1:]:
        yield forbidden(f"{path}.{kind}", "may not specify more than 1 volume type")


def given_as(volume: Body, kind: str) -> bool:
    return kind != "name" and volume.get(kind) is not None


def check_empty_dir(source: Body, path: str) -> Iterator[Violation]:
    if (limit := source.get("sizeLimit")) is not None and amount(limit) < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def check_host_path(source: Body, path: str) -> Iterator[Violation]:
    if not source["path"]:
        yield required(f"{path}.path")
        return
    yield from check_no_backsteps(source["path"], f"{path}.path")
    yield from one_of(source.get("type") or "", f"{path}.type", HOST_TYPES)


def check_secret(source: Body, path: str) -> Iterator[Violation]:
    if not source.get("secretName"):
        yield required(f"{path}.secretName")
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    yield from check_items(source, path)


def check_config_map(source: Body, path: str) -> Iterator[Violation]:
    if not source.get("name"):
        yield required(f"{path}.name")
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    yield from check_items(source, path)


def check_items(source: Body, path: str) -> Iterator[Violation]:
    for i, item in enumerate(source.get("items") or ()):
        here = f"{path}.items[{i}]"
        if not item["key"]:
            yield required(f"{here}.key")
        yield from check_file(item["path"], f"{here}.path")
        yield from check_mode(item.get("mode"), f"{here}.mode")


def check_claim(source: Body, path: str) -> Iterator[Violation]:
    if not source["claimName"]:
        yield required(f"{path}.claimName")


def check_nfs(source: Body, path: str) -> Iterator[Violation]:
    if not source["server"]:
        yield required(f"{path}.server")
    if not source["path"]:
        yield required(f"{path}.path")
    elif not source["path"].startswith("/"):
        yield invalid(f"{path}.path", source["path"], "must be an absolute path")


def check_driver(source: Body, path: str) -> Iterator[Violation]:
    if not source["driver"]:
        yield required(f"{path}.driver")
    yield from check_subdomain(source["driver"], f"{path}.driver")


def check_downward(source: Body, path: str) -> Iterator[Violation]:
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for item in source.get("items") or ():
        yield from check_file(item["path"], f"{path}.path")
        field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        if field is not None:
            yield from check_field_ref(field, f"{path}.fieldRef", IN_VOLUMES)
            if resource is not None:
                why = "fieldRef and resourceFieldRef can not be specified simultaneously"
                yield invalid(path, "resource", why)
        elif resource is not None:
            yield from check_resource_ref(resource, f"{path}.resourceFieldRef", in_volume=True)
        else:
            yield required(path, "one of fieldRef and resourceFieldRef is required")
        yield from check_mode(item.get("mode"), f"{path}.mode")


def check_projected(source: Body, path: str) -> Iterator[Violation]:
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    taken: set[str] = set()
    for i, part in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{i}]"
        given = [k for k in ("secret", "configMap", "downwardAPI", "serviceAccountToken") if part.get(k)]
        if part.get("secret") is not None and "secret" not in given:
            given.insert(0, "secret")
        for kind in given:
            inner, below = part[kind], f"{here}.{kind}"
            if kind == "serviceAccountToken":
                yield from check_token(inner, below, path)
            elif kind == "downwardAPI":
                yield from check_downward(inner, below)
            else:
                if not inner.get("name"):
                    yield required(f"{below}.name")
                yield from check_items(inner, below)
            for item in inner.get("items") or ():
                if item["path"] in taken:
                    yield invalid(path, inner.get("name") or "", "conflicting duplicate paths")
                taken.add(item["path"])
        if len(given) > 1:
            yield forbidden(here, "may not specify more than 1 volume type per source")


def check_token(token: Body, path: str, projected: str) -> Iterator[Violation]:
    seconds, here = token.get("expirationSeconds", 3600), f"{path}.expirationSeconds"
    if seconds < SHORTEST:
        yield invalid(here, seconds, "may not specify a duration less than 10 minutes")
    elif seconds > LONGEST:
        yield invalid(here, seconds, "may not specify a duration larger than 2^32 seconds")
    if not token["path"]:
        yield required(f"{projected}.path")


def check_ephemeral(source: Body, path: str) -> Iterator[Violation]:
    template, here = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(here)
        return
    for field in template.get("metadata") or ():
        if field not in ("annotations", "labels", "creationTimestamp"):
            yield forbidden(f"{here}.metadata.{field}", "cannot be set")
    yield from check_claim_spec(template["spec"], f"{here}.spec")


CHECKS: dict[str, Callable[[Body, str], Iterator[Violation]]] = {
    "emptyDir": check_empty_dir,
    "hostPath": check_host_path,
    "secret": check_secret,
    "nfs": check_nfs,
    "persistentVolumeClaim": check_claim,
    "downwardAPI": check_downward,
    "configMap": check_config_map,
    "projected": check_projected,
    "csi": check_driver,
    "ephemeral": check_ephemeral,
}
