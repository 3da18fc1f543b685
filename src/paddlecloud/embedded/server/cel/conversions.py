"""Values of CEL made from values of another type, and the parts of times; pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from ..formats import fits_format
from .syntax import Uint
from .values import LARGEST, SMALLEST, CelError, NoOverload, Optional, numeric, unsigned, whole

SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
SPAN = re.compile(r"([0-9.]+)(h|ms|us|µs|ns|m|s)")
OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)")
TRUTHS = {t: True for t in ("1", "t", "T", "TRUE", "true", "True")} | {
    f: False for f in ("0", "f", "F", "FALSE", "false", "False")
}


def to_int(value: Any) -> int:
    if isinstance(value, datetime):
        return math.floor(value.timestamp())
    if isinstance(value, float):
        if not SMALLEST < value < LARGEST:
            raise CelError("integer overflow")
        return int(value)
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?\d+", value):
            raise unconvertible("int")
        return whole(int(value))
    if not numeric(value):
        raise NoOverload
    return whole(int(value))


def to_uint(value: Any) -> Uint:
    if isinstance(value, str) and not value.isdecimal():
        raise unconvertible("uint")
    if not numeric(value) and not isinstance(value, str):
        raise NoOverload
    return unsigned(int(value))


def to_double(value: Any) -> float:
    if not numeric(value) and not isinstance(value, str):
        raise NoOverload
    try:
        return float(value)
    except ValueError as error:
        raise unconvertible("double") from error


def to_bool(value: Any) -> bool:
    if isinstance(value, str):
        if value not in TRUTHS:
            raise unconvertible("bool")
        return TRUTHS[value]
    if not isinstance(value, bool):
        raise NoOverload
    return value


def to_string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return decimal(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from error
    if isinstance(value, datetime):
        shown = value.isoformat().replace("+00:00", "Z")
        return re.sub(r"(\.\d*?)0+(?=Z|[+-])", r"\1", shown)
    if isinstance(value, timedelta):
        return f"{decimal(value.total_seconds())}s"
    if isinstance(value, list | dict | Optional) or value is None:
        raise NoOverload
    return str(value)


def decimal(value: float) -> str:
    """As Go writes a number: the shortest digits, an exponent only where there are many."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    if value and not 1e-4 <= abs(value) < 1e21:
        return re.sub(r"\.0(?=e)", "", f"{value!r}" if "e" in repr(value) else f"{value:.17g}")
    return f"{value:.0f}" if value == int(value) else repr(value)


def unconvertible(kind: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{kind}'")


def to_bytes(value: Any) -> bytes:
    if not isinstance(value, str | bytes):
        raise NoOverload
    return value.encode() if isinstance(value, str) else value


def to_span(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise NoOverload
    if not fits_format(value, "duration"):
        raise unconvertible("google.protobuf.Duration")
    total = sum(float(number) * SECONDS[unit] for number, unit in SPAN.findall(value))
    return timedelta(seconds=-total if value.startswith("-") else total)


def to_moment(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        if not fits_format(value, "date-time"):
            raise unconvertible("google.protobuf.Timestamp")
        return datetime.fromisoformat(value.upper())
    if not numeric(value):
        raise NoOverload
    return datetime.fromtimestamp(value, UTC)


def zone(name: str) -> tzinfo:
    if match := OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise CelError(f"unknown time zone {name}") from error


def of_time(moment: Callable[[datetime], int], span: Callable[[float], int] | None = None) -> Any:
    def read(value: Any, name: str = "UTC") -> int:
        if isinstance(value, datetime):
            return moment(value.astimezone(zone(name)))
        if span is None or not isinstance(value, timedelta):
            raise NoOverload
        return span(value.total_seconds())

    return read


CONVERSIONS: dict[str, Callable[..., Any]] = {
    "int": to_int,
    "uint": to_uint,
    "double": to_double,
    "bool": to_bool,
    "string": to_string,
    "bytes": to_bytes,
    "duration": to_span,
    "timestamp": to_moment,
    "getFullYear": of_time(lambda t: t.year),
    "getMonth": of_time(lambda t: t.month - 1),
    "getDate": of_time(lambda t: t.day),
    "getDayOfMonth": of_time(lambda t: t.day - 1),
    "getDayOfWeek": of_time(lambda t: t.isoweekday() % 7),
    "getDayOfYear": of_time(lambda t: t.timetuple().tm_yday - 1),
    "getHours": of_time(lambda t: t.hour, lambda s: int(s / 3600)),
    "getMinutes": of_time(lambda t: t.minute, lambda s: int(s / 60)),
    "getSeconds": of_time(lambda t: t.second, int),
    "getMilliseconds": of_time(lambda t: t.microsecond // 1000, lambda s: int(s * 1000) % 1000),
}
