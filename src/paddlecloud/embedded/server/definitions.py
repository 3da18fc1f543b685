"""CustomResourceDefinitions: what they must say, what is filled in, which names they get; pure.

The names of a group are given first come, first served: a definition whose names are taken is kept, told
so in its conditions, and serves nothing until they are free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .celcheck import rule_problems
from .complaints import forbidden, invalid, required, unsupported
from .names import subdomain_problem
from .schema import Violation
from .structural import problems

Body = dict[str, Any]
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
APPROVED = "api-approved.kubernetes.io"
LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
NOT_A_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
ROOT = "schema.openAPIV3Schema"


def default_definition(definition: Body) -> None:
    spec = definition.get("spec") or {}
    names = spec.get("names") or {}
    if "kind" in names:
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")
    spec.setdefault("conversion", {"strategy": "None"})
    stored = [v.get("name") for v in spec.get("versions") or () if v.get("storage")]
    definition["status"] = {
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
        "conditions": [],
    }


def check_definition(definition: Body, old: Body | None) -> Iterator[Violation]:
    spec = definition.get("spec") or {}
    names = spec.get("names") or {}
    wanted = f"{names.get('plural') or ''}.{spec.get('group') or ''}"
    given = definition["metadata"]["name"]
    if given != wanted:
        yield invalid("metadata.name", given, 'must be spec.names.plural+"."+spec.group')
    yield from check_group(definition, str(spec.get("group") or ""))
    if not spec.get("scope"):
        yield Violation("spec.scope", "FieldValueRequired", "Required value")
    elif spec["scope"] not in ("Cluster", "Namespaced"):
        yield unsupported("spec.scope", spec["scope"], ("Cluster", "Namespaced"))
    yield from check_names(names)
    yield from check_versions(spec)
    strategy = (spec.get("conversion") or {}).get("strategy") or "None"
    if strategy == "Webhook":
        yield forbidden("spec.conversion.strategy", "conversion by webhooks is not supported by this server")
    elif strategy != "None":
        yield unsupported("spec.conversion.strategy", strategy, ("None", "Webhook"))
    if spec.get("preserveUnknownFields"):
        yield invalid(
            "spec.preserveUnknownFields",
            True,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
            "instead",
        )
    if old is not None:
        yield from check_change(definition, old)


def check_group(definition: Body, group: str) -> Iterator[Violation]:
    if not group:
        yield Violation("spec.group", "FieldValueRequired", "Required value")
    elif problem := subdomain_problem(group):
        yield invalid("spec.group", group, problem)
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    protected = group.endswith((".k8s.io", ".kubernetes.io")) or group in ("k8s.io", "kubernetes.io")
    if protected and APPROVED not in (definition["metadata"].get("annotations") or {}):
        yield required(
            f"metadata.annotations[{APPROVED}]",
            f'protected groups must have approval annotation "{APPROVED}", see '
            "https://github.com/kubernetes/enhancements/pull/1111",
        )


def check_names(names: Body) -> Iterator[Violation]:
    for field in ("plural", "singular", "kind", "listKind"):
        text = str(names.get(field) or "")
        if not text:
            yield Violation(f"spec.names.{field}", "FieldValueRequired", "Required value")
        elif not LABEL.fullmatch(text.lower() if field in ("kind", "listKind") else text):
            yield invalid(f"spec.names.{field}", text, NOT_A_LABEL)
    for field in ("shortNames", "categories"):
        for i, text in enumerate(names.get(field) or ()):
            if not LABEL.fullmatch(text):
                yield invalid(f"spec.names.{field}[{i}]", text, NOT_A_LABEL)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid("spec.names.listKind", names["kind"], "kind and listKind may not be the same")


def check_versions(spec: Body) -> Iterator[Violation]:
    versions = spec.get("versions") or []
    if sum(bool(v.get("storage")) for v in versions) != 1:
        yield invalid("spec.versions", versions, "must have exactly one version marked as storage version")
        if not any(v.get("storage") for v in versions):
            yield Violation(
                "status.storedVersions",
                "FieldValueInvalid",
                "Invalid value: []string(nil): must have at least one stored version",
            )
    if len({v.get("name") for v in versions}) < len(versions):
        yield invalid("spec.versions", versions, "must contain unique version names")
    # What all versions say alike is reported once, where older definitions said it.
    shared = len({repr(v.get("schema")) for v in versions}) == 1
    for i, version in enumerate(versions):
        yield from check_version(version, f"spec.versions[{i}]", shared=shared, first=i == 0)


def check_version(version: Body, path: str, *, shared: bool, first: bool) -> Iterator[Violation]:
    name = str(version.get("name") or "")
    if not LABEL.fullmatch(name):
        yield invalid(f"{path}.name", name, NOT_A_LABEL)
    warning = version.get("deprecationWarning")
    if warning == "":
        yield invalid(f"{path}.deprecationWarning", warning, "must not be an empty string")
    elif warning and not version.get("deprecated"):
        yield invalid(f"{path}.deprecationWarning", warning, "can only be set for deprecated versions")
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if schema is None:
        yield required(f"{path}.{ROOT}", "schemas are required")
    elif first or not shared:
        where = "spec.validation.openAPIV3Schema" if shared else f"{path}.{ROOT}"
        found = list(problems(schema, where))
        # Rules are read against the schema: first it must be one.
        yield from found or rule_problems(schema, where)
    inner = "spec" if shared else path
    for i, column in enumerate(version.get("additionalPrinterColumns") or ()):
        if first or not shared:
            yield from check_column(column, f"{inner}.additionalPrinterColumns[{i}]")
    if scale := (version.get("subresources") or {}).get("scale"):
        yield from check_scale(scale, f"{inner}.subresources.scale")
    elif scale is not None:
        yield from check_scale({}, f"{inner}.subresources.scale")


def check_column(column: Body, path: str) -> Iterator[Violation]:
    if not column.get("name"):
        yield Violation(f"{path}.name", "FieldValueRequired", "Required value")
    if not column.get("type"):
        choices = ",".join(COLUMN_TYPES)
        yield required(f"{path}.type", f"must be one of {choices}")
    elif column["type"] not in COLUMN_TYPES:
        yield invalid(f"{path}.type", column["type"], f"must be one of {','.join(COLUMN_TYPES)}")
    if column.get("format") and column["format"] not in COLUMN_FORMATS:
        yield invalid(f"{path}.format", column["format"], f"must be one of {','.join(COLUMN_FORMATS)}")
    if not column.get("jsonPath"):
        yield Violation(f"{path}.JSONPath", "FieldValueRequired", "Required value")
    elif not column["jsonPath"].startswith("."):
        message = "must be a simple json path starting with ."
        yield invalid(f"{path}.JSONPath", column["jsonPath"], message)


def check_scale(scale: Body, path: str) -> Iterator[Violation]:
    for field, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        given = scale.get(field) or ""
        if not given:
            yield Violation(f"{path}.{field}", "FieldValueRequired", "Required value")
        elif not given.startswith(root):
            yield invalid(f"{path}.{field}", given, f"should be a json path under {root[:-1]}")
    selector = scale.get("labelSelectorPath")
    if selector and not selector.startswith((".spec.", ".status.")):
        message = "should be a json path under either .spec or .status"
        yield invalid(f"{path}.labelSelectorPath", selector, message)


def check_change(definition: Body, old: Body) -> Iterator[Violation]:
    """What objects already lie under cannot be changed beneath them."""
    new, before = definition["spec"], old["spec"]
    for field in ("group", "scope"):
        if new.get(field) != before.get(field):
            yield invalid(f"spec.{field}", new.get(field), "field is immutable")
    if established(old):
        for field in ("plural", "kind"):
            if new["names"].get(field) != before["names"].get(field):
                yield invalid(f"spec.names.{field}", new["names"].get(field), "field is immutable")
    stored = (definition.get("status") or {}).get("storedVersions") or []
    known = [v.get("name") for v in new.get("versions") or ()]
    for i, version in enumerate(stored):
        if version not in known:
            message = (
                f"missing from spec.versions; {version} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {version} and "
                f"removes {version} from status.storedVersions"
            )
            yield invalid(f"status.storedVersions[{i}]", version, message)


def established(definition: Body) -> bool:
    return has_condition(definition, "Established")


def terminating(definition: Body) -> bool:
    return bool(definition["metadata"].get("deletionTimestamp"))


def has_condition(definition: Body, kind: str) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(c["type"] == kind and c["status"] == "True" for c in conditions)


def with_names(definition: Body, others: Iterable[Body], now: str) -> Body:
    """The definition with the names it gets beside the *others*, and the conditions that say so."""
    spec, status = definition["spec"], definition.get("status") or {}
    taken: set[str | None] = set()
    kinds: set[str | None] = set()
    for other in others:
        accepted = (other.get("status") or {}).get("acceptedNames") or {}
        if other["spec"]["group"] != spec["group"]:
            continue
        taken |= {accepted.get("plural"), accepted.get("singular"), *(accepted.get("shortNames") or ())}
        kinds |= {accepted.get("kind"), accepted.get("listKind")}
    accepted, conflict = accept(spec["names"], taken, kinds)
    conditions = list(status.get("conditions") or ())
    if conflict:
        reason, message = conflict
        set_condition(conditions, now, "NamesAccepted", "False", reason, message)
        if not established(definition):
            set_condition(
                conditions, now, "Established", "False", "NotAccepted", "not all names are accepted"
            )
    else:
        set_condition(conditions, now, "NamesAccepted", "True", "NoConflicts", "no conflicts found")
        if not established(definition):
            reason, message = "InitialNamesAccepted", "the initial names have been accepted"
            set_condition(conditions, now, "Established", "True", reason, message)
    if terminating(definition):
        message = "CustomResource deletion is in progress"
        set_condition(conditions, now, "Terminating", "True", "InstanceDeletionInProgress", message)
    stored = list(status.get("storedVersions") or ())
    stored += [v["name"] for v in spec["versions"] if v.get("storage") and v["name"] not in stored]
    made = {**status, "conditions": conditions, "acceptedNames": accepted, "storedVersions": stored}
    return {**definition, "status": made}


def accept(
    names: Body, taken: set[str | None], kinds: set[str | None]
) -> tuple[Body, tuple[str, str] | None]:
    """The names that are free, and the last conflict: its reason and its sentence."""
    accepted: Body = {"plural": "", "kind": ""}
    conflict: tuple[str, str] | None = None
    short = list(names.get("shortNames") or ())
    for field, used in (("plural", taken), ("singular", taken)):
        if (name := names.get(field)) and name in used:
            conflict = (f"{field.capitalize()}Conflict", f'"{name}" is already in use')
        elif name:
            accepted[field] = name
    if clash := [n for n in short if n in taken]:
        conflict = ("ShortNamesConflict", ", ".join(f'"{n}" is already in use' for n in clash))
    elif short:
        accepted["shortNames"] = short
    for field in ("kind", "listKind"):
        if (name := names.get(field)) and name in kinds:
            conflict = (f"{field[0].upper()}{field[1:]}Conflict", f'"{name}" is already in use')
        elif name:
            accepted[field] = name
    if names.get("categories"):
        accepted["categories"] = names["categories"]
    return accepted, conflict


def set_condition(
    conditions: list[Body], now: str, kind: str, status: str, reason: str, message: str
) -> None:
    made = {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
    for i, condition in enumerate(conditions):
        if condition["type"] == kind:
            if condition["status"] == status:
                made["lastTransitionTime"] = condition["lastTransitionTime"]
            conditions[i] = made
            return
    conditions.append(made)
