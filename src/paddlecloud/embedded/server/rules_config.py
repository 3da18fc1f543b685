"""Settings, secrets, namespaces and limits: defaults and refusals; pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

from .schema import Violation

Body = dict[str, Any]
MOST = 1024 * 1024  # bytes of all values together
CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
ACCOUNT, ACCOUNT_TOKEN = "kubernetes.io/service-account.name", "kubernetes.io/service-account-token"
NEEDED = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}


def complete_namespace(namespace: Body) -> None:
    # Selecting namespaces by name is done through this label.
    if name := namespace["metadata"].get("name"):
        namespace["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    namespace["status"].setdefault("phase", "Active")


def begin_namespace(namespace: Body) -> None:
    namespace["spec"]["finalizers"] = ["kubernetes"]


def complete_secret(secret: Body) -> None:
    secret.setdefault("type", "Opaque")
    for key, text in (secret.pop("stringData", None) or {}).items():
        secret.setdefault("data", {})[key] = base64.b64encode(text.encode()).decode()


def check_secret(secret: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_keys(secret, old)
    if secret["type"] == ACCOUNT_TOKEN and not (secret["metadata"].get("annotations") or {}).get(ACCOUNT):
        yield Violation(f"metadata.annotations[{ACCOUNT}]", "FieldValueRequired", "Required value")
    for key in NEEDED.get(secret["type"], ()):
        if key not in (secret.get("data") or {}):
            yield Violation(f"data[{key}]", "FieldValueRequired", "Required value")
    if old is not None and secret["type"] != old["type"]:
        yield Violation("type", "FieldValueInvalid", f'Invalid value: "{secret["type"]}": field is immutable')


def check_keys(body: Body, old: Body | None) -> Iterator[Violation]:
    is_secret = "type" in body
    if size_of(body, encoded=("data", "binaryData") if is_secret else ("binaryData",)) > MOST:
        # A secret names the field, a ConfigMap has two of them and names none.
        yield Violation(
            "data" if is_secret else "[]",
            "FieldValueTooLong",
            f"Too long: may not be more than {MOST} bytes",
        )
    for key in set(body.get("data") or ()) & set(body.get("binaryData") or ()):
        why = f'Invalid value: "{key}": duplicate of key present in binaryData'
        yield Violation(f"data[{key}]", "FieldValueInvalid", why)
    for field in ("data", "binaryData"):
        for key in body.get(field) or ():
            if key in (".", ".."):
                why = f"Invalid value: \"{key}\": must not be '{key}'"
                yield Violation(f"{field}[{key}]", "FieldValueInvalid", why)
            elif not CONFIG_KEY.fullmatch(key):
                yield Violation(
                    f"{field}[{key}]",
                    "FieldValueInvalid",
                    f'Invalid value: "{key}": a valid config key must consist of alphanumeric characters, '
                    "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                    "validation is '[-._a-zA-Z0-9]+')",
                )
    if old is None or not old.get("immutable"):
        return
    if not body.get("immutable"):
        yield frozen("immutable")
    for field in ("data", "binaryData"):
        if body.get(field) != old.get(field):
            yield frozen(field)


def size_of(body: Body, encoded: tuple[str, ...]) -> int:
    """The bytes of all values, those in base64 as what they stand for."""
    size = 0
    for field in ("data", "binaryData"):
        for value in (body.get(field) or {}).values():
            size += len(value) * 3 // 4 - value[-2:].count("=") if field in encoded else len(value.encode())
    return size


def frozen(field: str) -> Violation:
    return Violation(field, "FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set")


def complete_limits(body: Body) -> None:
    """Of a container: what is not limited gets the most allowed, what is not asked for the limit."""
    for limit in body["spec"].get("limits") or ():
        if limit["type"] != "Container":
            continue
        most, least = limit.get("max") or {}, limit.get("min") or {}
        given = {**most, **(limit.get("default") or {})}
        asked = {**least, **given, **(limit.get("defaultRequest") or {})}
        if given:
            limit["default"] = given
        if asked:
            limit["defaultRequest"] = asked
