"""Which names, labels and annotations Kubernetes accepts, in its own words; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .kinds import Kind
from .schema import Violation

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
ANNOTATIONS = 256 * 1024
LABELLED = ("/namespaces", "/services")  # kinds whose names become one part of a host name
PATH_NAMED = "rbac.authorization.k8s.io/"  # the group whose kinds may have any name that fits into a path

LABEL_KEY_RULE = "name part must consist of alphanumeric characters, '-', '_' or '.'"
LABEL_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
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


def path_problem(name: str) -> str:
    if name in (".", ".."):
        return f"may not be '{name}'"
    return next((f"may not contain '{c}'" for c in "/%" if c in name), "")


def check_metadata(kind: Kind, metadata: dict[str, Any]) -> Iterator[Violation]:
    name = metadata.get("name") or ""
    problem = label_problem(name) if kind.resource in LABELLED else subdomain_problem(name)
    if kind.resource.startswith(PATH_NAMED):
        problem = path_problem(name)
    if not name:
        yield Violation(
            "metadata.name", "FieldValueRequired", "Required value: name or generateName is required"
        )
    elif problem:
        yield Violation("metadata.name", "FieldValueInvalid", f'Invalid value: "{name}": {problem}')
    for key, value in (metadata.get("labels") or {}).items():
        if not QUALIFIED.fullmatch(key):
            yield Violation(
                "metadata.labels", "FieldValueInvalid", f'Invalid value: "{key}": {LABEL_KEY_RULE}'
            )
        if not isinstance(value, str) or len(value) > 63 or not LABEL_VALUE.fullmatch(value):
            wrong = f'Invalid value: "{value}": {LABEL_VALUE_RULE}'
            yield Violation("metadata.labels", "FieldValueInvalid", wrong)
    annotations = metadata.get("annotations") or {}
    if sum(len(str(k)) + len(str(v)) for k, v in annotations.items()) > ANNOTATIONS:
        yield Violation(
            "metadata.annotations", "FieldValueTooLong", f"Too long: may not be more than {ANNOTATIONS} bytes"
        )
