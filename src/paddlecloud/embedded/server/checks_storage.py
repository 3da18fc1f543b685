"""Claims, volumes and classes of storage: what they may not be, and what of them may change; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_claims import check_claim_spec, check_modes
from .checks_resources import shown
from .checks_scheduling import check_node_selector
from .checks_volumes import CHECKS
from .checks_words import check_qualified, check_subdomain
from .complaints import forbidden, invalid, one_of, required, unquoted
from .facts.scalars import amount
from .names import qualified_problems
from .schema import Violation

Body = dict[str, Any]
# The fields of a volume that do not say where its data is.
NO_SOURCE = {
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
}  # fmt: skip
SETTLED = forbidden(
    "spec",
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "
    "claims",
)


def check_claim(claim: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_claim_spec(claim["spec"], "spec")
    if old is None:
        return
    spec, before = claim["spec"], old["spec"]
    # The volume is written into a claim once.
    if settled(spec) != settled(before) or before.get("volumeName") not in (None, "", spec.get("volumeName")):
        yield SETTLED
        return
    asked, had = (amount((s["resources"].get("requests") or {}).get("storage", "0")) for s in (spec, before))
    if asked != had and (old.get("status") or {}).get("phase") != "Bound":
        yield SETTLED
    elif asked < had:
        floor = amount(((old.get("status") or {}).get("capacity") or {}).get("storage", "0"))
        if asked < floor or not floor:
            why = "field can not be less than status.capacity"
            yield forbidden("spec.resources.requests.storage", why)


def settled(spec: Body) -> Body:
    return {
        k: v for k, v in spec.items() if k not in ("resources", "volumeAttributesClassName", "volumeName")
    }


def check_volume(volume: Body, old: Body | None) -> Iterator[Violation]:
    spec = volume["spec"]
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from check_modes(spec.get("accessModes") or [], "spec.accessModes")
    yield from check_capacity(spec)
    yield from check_place(spec)
    given = sorted(set(spec) - NO_SOURCE, key=lambda kind: (kind not in ORDER, kind))
    if not given:
        yield required("spec", "must specify a volume type")
    else:
        yield from check_source(spec[given[0]], given[0], f"spec.{given[0]}")
        if given[0] == "local" and spec.get("nodeAffinity") is None:
            yield required("spec.nodeAffinity", "Local volume requires node affinity")
    for kind in given[1:]:
        yield forbidden(f"spec.{kind}", "may not specify more than 1 volume type")
    policy = spec["persistentVolumeReclaimPolicy"]
    yield from one_of(policy, "spec.persistentVolumeReclaimPolicy", ("Delete", "Recycle", "Retain"))
    if policy == "Recycle" and (spec.get("hostPath") or {}).get("path") == "/":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden("spec.persistentVolumeReclaimPolicy", why)
    if name := spec.get("storageClassName"):
        yield from check_subdomain(name, "spec.storageClassName")
    if (mode := spec.get("volumeMode")) is not None:
        yield from one_of(mode, "spec.volumeMode", ("Block", "Filesystem"))
    if old is not None:
        yield from check_same_source(spec, old["spec"])


ORDER = ("hostPath", "local")


def check_capacity(spec: Body) -> Iterator[Violation]:
    capacity = spec.get("capacity")
    if not capacity:
        yield required("spec.capacity")
    if set(capacity or ()) != {"storage"}:
        inside = ", ".join(f'"{k}":{shown(v)}' for k, v in sorted((capacity or {}).items()))
        value = "core.ResourceList(nil)" if capacity is None else f"core.ResourceList{{{inside}}}"
        why = f'Unsupported value: {value}: supported values: "storage"'
        yield Violation("spec.capacity", "FieldValueNotSupported", why)
    for name, text in (capacity or {}).items():
        path = f"spec.capacity[{name}]"
        if amount(text) < 0:
            yield unquoted(path, text, "must be a valid resource quantity")
        if amount(text) <= 0:
            yield invalid(path, text, "must be greater than zero")


def check_place(spec: Body) -> Iterator[Violation]:
    if (affinity := spec.get("nodeAffinity")) is None:
        return
    path = "spec.nodeAffinity.required"
    if affinity.get("required") is None:
        yield required(path, "must specify required node constraints")
    else:
        yield from check_node_selector(affinity["required"], path)


def check_source(source: Body, kind: str, path: str) -> Iterator[Violation]:
    if kind == "csi":
        yield from CHECKS["csi"](source, path)
        if not source.get("volumeHandle"):
            yield required(f"{path}.volumeHandle")
    elif kind == "local":
        if not source["path"]:
            yield required(f"{path}.path")
    elif kind in ("hostPath", "nfs"):
        yield from CHECKS[kind](source, path)


def check_same_source(spec: Body, old: Body) -> Iterator[Violation]:
    now, before = ({k: v for k, v in s.items() if k not in NO_SOURCE} for s in (spec, old))
    if now != before:
        yield forbidden(
            "spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"
        )
    if spec.get("volumeMode") != old.get("volumeMode"):
        yield invalid("spec.volumeMode", spec.get("volumeMode"), "field is immutable")


def check_class(body: Body, old: Body | None) -> Iterator[Violation]:
    provisioner = body["provisioner"]
    if not provisioner:
        yield required("provisioner")
    else:
        problems = qualified_problems(provisioner.lower())
        yield from (invalid("provisioner", provisioner, p) for p in problems)
    if "" in (body.get("parameters") or {}):
        yield invalid("parameters", "", "field can not be empty.")
    yield from one_of(body["reclaimPolicy"], "reclaimPolicy", ("Delete", "Retain"))
    yield from one_of(body["volumeBindingMode"], "volumeBindingMode", ("Immediate", "WaitForFirstConsumer"))
    for i, term in enumerate(body.get("allowedTopologies") or ()):
        for j, item in enumerate(term.get("matchLabelExpressions") or ()):
            here = f"allowedTopologies[{i}].matchLabelExpressions[{j}]"
            if not item.get("values"):
                yield required(f"{here}.values")
            yield from check_qualified(item["key"], f"{here}.key")
    for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if old is not None and body.get(field) != old.get(field):
            yield forbidden(field, f"updates to {field} are forbidden.")
