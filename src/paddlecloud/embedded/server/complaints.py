"""The ways in which a field can be wrong, in Kubernetes' words; pure."""

from __future__ import annotations

from typing import Any

from . import gotext
from .schema import Violation


def required(field: str, message: str) -> Violation:
    return Violation(field, "FieldValueRequired", f"Required value: {message}")


def invalid(field: str, value: Any, message: str) -> Violation:
    return Violation(field, "FieldValueInvalid", f"Invalid value: {gotext.shown(value)}: {message}")


def forbidden(field: str, message: str) -> Violation:
    return Violation(field, "FieldValueForbidden", f"Forbidden: {message}")


def unsupported(field: str, value: str, supported: tuple[str, ...]) -> Violation:
    listed = ", ".join(f'"{s}"' for s in supported)
    return Violation(
        field, "FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {listed}'
    )
