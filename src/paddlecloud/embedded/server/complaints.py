"""The ways in which a field can be wrong, in Kubernetes' words; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from . import gotext
from .schema import Violation


def required(field: str, message: str = "") -> Violation:
    return Violation(field, "FieldValueRequired", f"Required value{': ' + message if message else ''}")


def invalid(field: str, value: Any, message: str) -> Violation:
    return Violation(field, "FieldValueInvalid", f"Invalid value: {gotext.shown(value)}: {message}")


def unquoted(field: str, value: Any, message: str) -> Violation:
    """A value of a type that Go prints in its own way: the text stands as it is."""
    return Violation(field, "FieldValueInvalid", f"Invalid value: {value}: {message}")


def forbidden(field: str, message: str) -> Violation:
    return Violation(field, "FieldValueForbidden", f"Forbidden: {message}")


def duplicate(field: str, value: Any) -> Violation:
    return Violation(field, "FieldValueDuplicate", f"Duplicate value: {gotext.shown(value)}")


def absent(field: str, value: str) -> Violation:
    return Violation(field, "FieldValueNotFound", f"Not found: {gotext.shown(value)}")


def immutable(field: str, value: Any) -> Violation:
    return invalid(field, value, "field is immutable")


def unsupported(field: str, value: str, supported: Iterable[str]) -> Violation:
    listed = ", ".join(f'"{s}"' for s in supported)
    return Violation(
        field, "FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {listed}'
    )


def one_of(value: str, field: str, supported: tuple[str, ...]) -> Iterator[Violation]:
    if value not in supported:
        yield unsupported(field, value, supported)


def at_least_zero(number: int | None, field: str) -> Iterator[Violation]:
    if number is not None and number < 0:
        yield invalid(field, number, "must be greater than or equal to 0")
