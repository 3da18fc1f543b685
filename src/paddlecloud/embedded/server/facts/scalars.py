"""The values Kubernetes writes in a form of its own: quantities, times, bytes, numbers that may be words.

Each function takes a value as it came and gives it as it is stored, or raises `Mismatch`; pure.
"""

from __future__ import annotations

import binascii
import functools
import re
from datetime import UTC, datetime
from decimal import ROUND_UP, Decimal
from typing import Any

QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)")
QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
SUFFIXES = {power: suffix for suffix, power in DECIMAL.items()}
SMALLEST = Decimal("1e-9")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
BOUNDS = {"int32": 1 << 31, "int64": 1 << 63, "int": 1 << 63}
NAMES: dict[type, str] = {
    bool: "bool", dict: "object", list: "array", str: "string", int: "number", float: "number",
}  # fmt: skip


class Mismatch(Exception):
    """A value that does not fit its field; the way to the field is added on the way out."""

    def __init__(self, value: Any, go_type: str = "", message: str = "") -> None:
        self.value, self.go_type, self.message = value, go_type, message
        self.struct = ""
        self.path: list[str] = []

    def sentence(self) -> str:
        if self.message:
            return self.message
        given = NAMES.get(type(self.value), "null")
        if given == "number" and self.go_type in BOUNDS:
            given = f"number {self.value}"
        where = f"Go struct field {self.struct}.{'.'.join(reversed(self.path))} of type {self.go_type}"
        return f"json: cannot unmarshal {given} into {where}"


def integer(value: Any, go_type: str) -> int:
    if type(value) is not int or not -BOUNDS[go_type] <= value < BOUNDS[go_type]:
        raise Mismatch(value, go_type)
    return value


def int_or_string(value: Any) -> int | str:
    if type(value) is str:
        return value
    return integer(value, "int32")


def binary(value: Any) -> str:
    if type(value) is not str:
        raise Mismatch(value, "[]uint8")
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except binascii.Error as error:
        # Go counts up to the first group it cannot read; the value itself may be a secret.
        bad = re.search(r"[^A-Za-z0-9+/]", value)
        at = bad.start() if bad and bad[0] != "=" else len(value) // 4 * 4
        raise Mismatch(value, message=f"illegal base64 data at input byte {at}") from error
    return value


def time(value: Any) -> str:
    if type(value) is str and TIME.fullmatch(value):
        return value
    return moment(value, "2006-01-02T15:04:05Z07:00").strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time(value: Any) -> str:
    if type(value) is str and MICRO_TIME.fullmatch(value):
        return value
    layout = "2006-01-02T15:04:05.000000Z07:00"
    if type(value) is str and TIME.fullmatch(value):
        raise Mismatch(value, message=f'parsing time "{value}" as "{layout}": cannot parse "Z" as ".000000"')
    return moment(value, layout).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(value: Any, layout: str) -> datetime:
    if type(value) is not str:
        raise Mismatch(value, "string")
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or "T" not in value:
        raise Mismatch(
            value, message=f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"'
        )
    return found.astimezone(UTC)


def quantity(value: Any) -> str:
    if type(value) is str:
        return canonical(value)
    if type(value) in (int, float):
        return canonical(repr(value))
    raise Mismatch(value, message=QUANTITY_RULE)


@functools.lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The one way to write an amount: no fraction, and the largest suffix that allows that."""
    found = QUANTITY.fullmatch(text)
    if not found:
        raise Mismatch(text, message=QUANTITY_RULE)
    sign, digits, suffix = found.groups()
    number = Decimal(digits)
    if suffix in BINARY[1:]:
        return with_sign(sign, in_binary(number * 1024 ** BINARY.index(suffix)))
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return with_sign(sign, in_decimal(number.scaleb(int(suffix[1:])), exponents=True))
    return with_sign(sign, in_decimal(number.scaleb(DECIMAL[suffix])))


@functools.lru_cache(maxsize=4096)
def amount(text: str) -> Decimal:
    """What a stored quantity is worth."""
    found = QUANTITY.fullmatch(text)
    if not found:
        raise Mismatch(text, message=QUANTITY_RULE)
    sign, digits, suffix = found.groups()
    number = Decimal(f"{sign}{digits}")
    if suffix in BINARY[1:]:
        return number * Decimal(1024 ** BINARY.index(suffix))
    return number.scaleb(DECIMAL[suffix] if suffix in DECIMAL else int(suffix[1:]))


def with_sign(sign: str, text: str) -> str:
    return f"-{text}" if sign == "-" and text != "0" else text


def in_binary(number: Decimal) -> str:
    if number != number.to_integral_value():
        return in_decimal(number)
    whole, step = int(number), 0
    while whole and whole % 1024 == 0 and step < len(BINARY) - 1:
        whole, step = whole // 1024, step + 1
    return f"{whole}{BINARY[step]}"


def in_decimal(number: Decimal, *, exponents: bool = False) -> str:
    number = number.quantize(SMALLEST, rounding=ROUND_UP) if number.as_tuple().exponent < -9 else number  # type: ignore[operator]
    if not number:
        return "0"
    power = 18
    while power > -9 and number.scaleb(-power) != number.scaleb(-power).to_integral_value():
        power -= 3
    whole = int(number.scaleb(-power))
    if exponents:
        return f"{whole}e{power}" if power else str(whole)
    return f"{whole}{SUFFIXES[power]}"
