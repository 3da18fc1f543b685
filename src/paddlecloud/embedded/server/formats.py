"""The formats of text that a schema may name; pure. A format nobody knows is no restriction."""

from __future__ import annotations

import base64
import ipaddress
import re
import uuid
from collections.abc import Callable
from datetime import date, datetime
from urllib.parse import urlsplit

EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
HOST = re.compile(r"(?=.{1,253}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*\.?")  # fmt: skip # noqa: E501
DURATION = re.compile(r"[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+|0")
# The day-of-time separators of RFC 3339; Python reads more than it allows.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def fits_format(text: str, name: str) -> bool:
    check = FORMATS.get(name)
    if check is None:
        return True
    try:
        return check(text) is not False
    except ValueError:
        return False


def moment(text: str) -> bool:
    return bool(MOMENT.fullmatch(text)) and bool(datetime.fromisoformat(text.upper()))


def address(text: str) -> bool:
    return bool(urlsplit(text).scheme or text.startswith("/"))


FORMATS: dict[str, Callable[[str], object]] = {
    "date-time": moment,
    "datetime": moment,
    "date": date.fromisoformat,
    "duration": lambda text: DURATION.fullmatch(text) is not None,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "cidr": lambda text: "/" in text and bool(ipaddress.ip_interface(text)),
    "byte": lambda text: base64.b64decode(text, validate=True) is not None,
    "uri": address,
    "email": lambda text: EMAIL.fullmatch(text) is not None,
    "hostname": lambda text: HOST.fullmatch(text) is not None,
    "uuid": uuid.UUID,
    **{
        f"uuid{n}": (lambda text, n=n: uuid.UUID(text).version == n)  # type: ignore[misc]
        for n in (3, 4, 5)
    },
}
