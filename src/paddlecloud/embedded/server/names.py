"""Which names, labels and annotations Kubernetes accepts, in its own words; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .schema import Violation

if TYPE_CHECKING:
    from .kinds import Kind

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
HOST_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
ANNOTATIONS = 256 * 1024
LABELLED = ("/namespaces",)  # kinds whose names become one part of a host name
PATH_NAMED = "rbac.authorization.k8s.io/"  # the group whose kinds may have any name that fits into a path

NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def label_problem(name: str) -> str:
    if len(name) > 63:
        return "must be no more than 63 characters"
    if LABEL.fullmatch(name):
        return ""
    return (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
        "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
        "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    )


def host_label_problem(name: str) -> str:
    """The name of a service begins with a letter."""
    if len(name) > 63:
        return "must be no more than 63 characters"
    if HOST_LABEL.fullmatch(name):
        return ""
    return (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex "
        "used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
    )


def subdomain_problem(name: str) -> str:
    if len(name) > 253:
        return "must be no more than 253 characters"
    if SUBDOMAIN.fullmatch(name):
        return ""
    return (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
        "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    )


def qualified_problems(name: str) -> Iterator[str]:
    """What is wrong with `prefix/name`, as the keys of labels and many others are written."""
    *prefix, last = name.split("/")
    if len(prefix) > 1:
        yield (
            f"a qualified name {NAME_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        )
        return
    if prefix and not prefix[0]:
        yield "prefix part must be non-empty"
    elif prefix and (problem := subdomain_problem(prefix[0])):
        yield f"prefix part {problem}"
    if not last:
        yield "name part must be non-empty"
    elif len(last) > 63:
        yield "name part must be no more than 63 characters"
    if not NAME_PART.fullmatch(last):
        yield f"name part {NAME_RULE}"


def label_value_problems(value: str) -> Iterator[str]:
    if len(value) > 63:
        yield "must be no more than 63 characters"
    if not LABEL_VALUE.fullmatch(value):
        yield LABEL_VALUE_RULE


def check_labels(labels: dict[str, Any] | None, path: str) -> Iterator[Violation]:
    for key, value in (labels or {}).items():
        for problem in qualified_problems(key):
            yield Violation(path, "FieldValueInvalid", f'Invalid value: "{key}": {problem}')
        for problem in label_value_problems(str(value)):
            yield Violation(path, "FieldValueInvalid", f'Invalid value: "{value}": {problem}')


def path_problem(name: str) -> str:
    if name in (".", ".."):
        return f"may not be '{name}'"
    return next((f"may not contain '{c}'" for c in "/%" if c in name), "")


def check_metadata(kind: Kind, metadata: dict[str, Any]) -> Iterator[Violation]:
    name = metadata.get("name") or ""
    fits = problem_of(kind)
    problem = fits(name)
    prefix = metadata.get("generateName") or ""
    # A prefix may end with a hyphen: something follows.
    if prefix and (wrong := fits(prefix[:-1] + "a" if prefix.endswith("-") else prefix)):
        yield Violation("metadata.generateName", "FieldValueInvalid", f'Invalid value: "{prefix}": {wrong}')
    if not name:
        yield Violation(
            "metadata.name", "FieldValueRequired", "Required value: name or generateName is required"
        )
    elif problem:
        yield Violation("metadata.name", "FieldValueInvalid", f'Invalid value: "{name}": {problem}')
    yield from check_labels(metadata.get("labels"), "metadata.labels")
    annotations = metadata.get("annotations") or {}
    for key in annotations:
        for problem in qualified_problems(key.lower()):
            yield Violation("metadata.annotations", "FieldValueInvalid", f'Invalid value: "{key}": {problem}')
    if sum(len(str(k)) + len(str(v)) for k, v in annotations.items()) > ANNOTATIONS:
        yield Violation(
            "metadata.annotations", "FieldValueTooLong", f"Too long: may not be more than {ANNOTATIONS} bytes"
        )
    yield from check_owners(metadata.get("ownerReferences") or [])
    for name in metadata.get("finalizers") or ():
        for problem in qualified_problems(name):
            yield Violation("metadata.finalizers", "FieldValueInvalid", f'Invalid value: "{name}": {problem}')


def problem_of(kind: Kind) -> Callable[[str], str]:
    """What is wrong with a name of this kind."""
    if kind.resource.startswith(PATH_NAMED):
        return path_problem
    if kind.resource == "/services":
        return host_label_problem
    return label_problem if kind.resource in LABELLED else subdomain_problem


def check_owners(owners: list[dict[str, Any]]) -> Iterator[Violation]:
    path = "metadata.ownerReferences"
    for owner in owners:
        for field, word in (("apiVersion", "version"), ("kind", "kind"), ("name", "name"), ("uid", "uid")):
            if not owner.get(field):
                why = f'Invalid value: "": {word} must not be empty'
                yield Violation(f"{path}.{field}", "FieldValueInvalid", why)
    leading = [f"{o.get('kind')}/{o.get('name')}" for o in owners if o.get("controller")]
    if len(leading) > 1:
        found = f'Found "true" in references for {leading[0]} and {leading[1]}'
        why = f"Only one reference can have Controller set to true. {found}"
        value = "[]v1.OwnerReference{…}"
        yield Violation(path, "FieldValueInvalid", f"Invalid value: {value}: {why}")
