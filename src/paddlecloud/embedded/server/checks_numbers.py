"""Numbers that may be percentages, and amounts, as Go prints them in refusals; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .complaints import at_least_zero, unquoted
from .schema import Violation

PERCENT = re.compile(r"[0-9]+%")
PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex "
    "used for validation is '[0-9]+%')"
)


def shown(value: int | str) -> str:
    """A number or a percentage as Go prints the struct."""
    if isinstance(value, int):
        return f'intstr.IntOrString{{Type:0, IntVal:{value}, StrVal:""}}'
    return f'intstr.IntOrString{{Type:1, IntVal:0, StrVal:"{value}"}}'


def check_share(value: int | str | None, path: str) -> Iterator[Violation]:
    """A number from zero on, or a percentage."""
    if isinstance(value, int):
        yield from at_least_zero(value, path)
    elif value is not None and not PERCENT.fullmatch(value):
        yield unquoted(path, shown(value), PERCENT_RULE)


def check_part(value: int | str | None, path: str) -> Iterator[Violation]:
    """A share that is no more than the whole."""
    yield from check_share(value, path)
    if isinstance(value, str) and PERCENT.fullmatch(value) and int(value[:-1]) > 100:
        yield unquoted(path, shown(value), "must not be greater than 100%")


def is_nothing(value: int | str | None) -> bool:
    return value in (None, 0) or (isinstance(value, str) and value.rstrip("%").strip("0") == "")
