"""The errors of the API in the words clients parse; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...errors import AlreadyExists, BadRequest, Conflict, Forbidden, Invalid, NotFound
from .kinds import Kind
from .schema import Violation


def not_found(kind: Kind, name: str) -> NotFound:
    return NotFound(
        f'{kind.full_name} "{name}" not found',
        details={"name": name, "group": kind.group, "kind": kind.plural}
        if kind.group
        else {"name": name, "kind": kind.plural},
    )


def already_exists(kind: Kind, name: str) -> AlreadyExists:
    return AlreadyExists(f'{kind.full_name} "{name}" already exists', details=not_found(kind, name).details)


def modified(kind: Kind, name: str) -> Conflict:
    return Conflict(
        f'Operation cannot be fulfilled on {kind.full_name} "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again",
        details=not_found(kind, name).details,
    )


def precondition(kind: Kind, name: str, what: str, wanted: str, found: str) -> Conflict:
    return Conflict(
        f'Operation cannot be fulfilled on {kind.full_name} "{name}": Precondition failed: '
        f"{what} in precondition: {wanted}, {what} in object meta: {found}",
        details=not_found(kind, name).details,
    )


def terminating(kind: Kind, namespace: str, name: str) -> Forbidden:
    cause = {
        "reason": "NamespaceTerminating",
        "field": "metadata.namespace",
        "message": f"namespace {namespace} is being terminated",
    }
    return Forbidden(
        f'{kind.full_name} "{name}" is forbidden: unable to create new content in namespace {namespace} '
        "because it is being terminated",
        details={**not_found(kind, name).details, "causes": [cause]},
    )


def immortal(kind: Kind, name: str) -> Forbidden:
    return Forbidden(
        f'{kind.full_name} "{name}" is forbidden: this namespace may not be deleted',
        details=not_found(kind, name).details,
    )


def content_remains(kind: Kind, name: str) -> Conflict:
    return Conflict(
        f'Operation cannot be fulfilled on {kind.full_name} "{name}": The system is ensuring all content is '
        "removed from this namespace.  Upon completion, this namespace will automatically be purged by "
        "the system.",
        details=not_found(kind, name).details,
    )


def invalid_options(field: str, message: str) -> Invalid:
    """Query parameters that do not go together."""
    return Invalid(
        f'ListOptions.meta.k8s.io "" is invalid: {field}: {message}',
        details={
            "group": "meta.k8s.io",
            "kind": "ListOptions",
            "causes": [{"reason": "FieldValueForbidden", "message": message, "field": field}],
        },
    )


def invalid(kind: Kind, name: str, violations: Iterable[Violation]) -> Invalid:
    found = list(violations)
    texts = [f"{v.field}: {v.message}" for v in found]
    what = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    named = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    causes = [{"reason": v.reason, "message": v.message, "field": v.field} for v in found]
    about = {"name": name, "group": kind.group, "kind": kind.kind, "causes": causes}
    return Invalid(f'{named} "{name}" is invalid: {what}', details={k: v for k, v in about.items() if v})


def check_new(kind: Kind, name: str, body: dict[str, Any]) -> None:
    """An applied object that is to be made must have this name and no past: raises what is wrong."""
    metadata = body.get("metadata") or {}
    if not metadata.get("name"):
        raise BadRequest(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if metadata["name"] != name:
        raise BadRequest(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
        )
    uid = metadata.get("uid")
    if uid:
        raise Conflict(
            f'Operation cannot be fulfilled on {kind.full_name} "{name}": uid mismatch: the provided object '
            f"specified uid {uid}, and no existing object was found",
            details=not_found(kind, name).details,
        )


def invalid_patch(made: dict[str, Any], sentence: str) -> Invalid:
    """What a patch made of an object is none of its kind."""
    shown = json.dumps(json.dumps(made, separators=(",", ":"), ensure_ascii=False), ensure_ascii=False)
    message = f"Invalid value: {shown}: {sentence}"
    return Invalid(
        f' "" is invalid: patch: {message}',
        details={"causes": [{"reason": "FieldValueInvalid", "message": message, "field": "patch"}]},
    )


def other_uid(kind: Kind, name: str, uid: str) -> Invalid:
    """An applied configuration that means another object of this name; told twice, as ever."""
    message = f'Invalid value: "{uid}": field is immutable'
    error = invalid(kind, name, [Violation("metadata.uid", "FieldValueInvalid", message)])
    error.details["causes"] *= 2
    return error
