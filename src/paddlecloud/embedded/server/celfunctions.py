"""The functions that Kubernetes adds to CEL: text, lists, quantities, addresses; pure.

Values that CEL has no type for (a quantity, a URL, an address) travel as maps with one telling key.
"""

from __future__ import annotations

import functools
import ipaddress
import itertools
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .quantities import Quantity, parse

QUANTITY, URL, ADDRESS, NETWORK = "quantity()", "url()", "ip()", "cidr()"


@functools.lru_cache(maxsize=512)
def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def find(text: str, wanted: str) -> str:
    match = pattern(wanted).search(text)
    return match[0] if match else ""


def find_all(text: str, wanted: str, limit: int = -1) -> list[str]:
    found = [m[0] for m in pattern(wanted).finditer(text)]
    return found if limit < 0 else found[:limit]


def split(text: str, by: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not by:
        return list(text)
    return text.split(by) if limit < 0 else text.split(by, limit - 1)


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    return text.replace(old, new, limit)


def substring(text: str, start: int, end: int | None = None) -> str:
    if not 0 <= start <= (len(text) if end is None else end) <= len(text):
        raise ValueError(f"index out of range: {start}")
    return text[start:end]


def index_of(value: Any, wanted: Any, start: int = 0) -> int:
    if isinstance(value, str):
        return value.find(wanted, start)
    return value.index(wanted) if wanted in value else -1


def last_index_of(value: Any, wanted: Any) -> int:
    if isinstance(value, str):
        return value.rfind(wanted)
    return len(value) - 1 - value[::-1].index(wanted) if wanted in value else -1


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise ValueError(f"index out of range: {index}")
    return text[index : index + 1]


def is_sorted(values: list[Any]) -> bool:
    return all(a <= b for a, b in itertools.pairwise(values))


def quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def ascii_case(text: str, change: Callable[[str], str]) -> str:
    return "".join(change(c) if c.isascii() else c for c in text)


def holds(check: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def ask(value: Any) -> bool:
        try:
            check(value)
        except ValueError:
            return False
        return True

    return ask


def amount(value: dict[str, str]) -> Quantity:
    return parse(value[QUANTITY])


def quantity(text: str) -> dict[str, str]:
    return {QUANTITY: str(parse(text))}


def compare(a: dict[str, str], b: dict[str, str]) -> int:
    left, right = amount(a).value, amount(b).value
    return (left > right) - (left < right)


def sign(value: dict[str, str]) -> int:
    own = amount(value).value
    return (own > 0) - (own < 0)


def plus(a: dict[str, str], b: Any, factor: int = 1) -> dict[str, str]:
    other = Quantity(b) if isinstance(b, int) else amount(b)
    return {QUANTITY: str(amount(a) + Quantity(other.value * factor, other.binary))}


def url(text: str) -> dict[str, str]:
    if not urlsplit(text).scheme and not text.startswith("/"):
        raise ValueError(f"URL parse error during conversion from string: {text}")
    return {URL: text}


def part(read: Callable[[Any], Any]) -> Callable[[dict[str, str]], Any]:
    return lambda value: read(urlsplit(value[URL])) or ""


def address(text: str) -> dict[str, str]:
    return {ADDRESS: str(ipaddress.ip_address(text))}


def network(text: str) -> dict[str, str]:
    return {NETWORK: str(ipaddress.ip_network(text, strict=False))}


def inside(net: dict[str, str], other: Any) -> bool:
    text = other if isinstance(other, str) else other.get(ADDRESS) or other[NETWORK]
    wide = ipaddress.ip_network(net[NETWORK])
    if "/" in text:
        narrow = ipaddress.ip_network(text, strict=False)
        return narrow.version == wide.version and narrow.subnet_of(wide)  # type: ignore[arg-type]
    return ipaddress.ip_address(text) in wide


def about(read: Callable[[Any], Any]) -> Callable[[dict[str, str]], Any]:
    return lambda value: read(ipaddress.ip_address(value[ADDRESS]))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "characters": len,
    "find": find,
    "findAll": find_all,
    "split": split,
    "join": lambda values, by="": by.join(values),
    "replace": replace,
    "substring": substring,
    "trim": str.strip,
    "lowerAscii": lambda text: ascii_case(text, str.lower),
    "upperAscii": lambda text: ascii_case(text, str.upper),
    "charAt": char_at,
    "indexOf": index_of,
    "lastIndexOf": last_index_of,
    "isSorted": is_sorted,
    "sum": sum,
    "min": min,
    "max": max,
    "quantity": quantity,
    "isQuantity": holds(parse),
    "isInteger": lambda q: amount(q).value.denominator == 1,
    "asInteger": lambda q: int(amount(q).value),
    "asApproximateFloat": lambda q: float(amount(q).value),
    "isGreaterThan": lambda a, b: compare(a, b) > 0,
    "isLessThan": lambda a, b: compare(a, b) < 0,
    "compareTo": compare,
    "sign": sign,
    "add": plus,
    "sub": lambda a, b: plus(a, b, -1),
    "url": url,
    "isURL": holds(url),
    "getScheme": part(lambda u: u.scheme),
    "getHost": part(lambda u: u.netloc.rpartition("@")[2]),
    "getHostname": part(lambda u: u.hostname),
    "getPort": part(lambda u: str(u.port or "")),
    "getEscapedPath": part(lambda u: u.path),
    "getQuery": lambda value: parse_qs(urlsplit(value[URL]).query, keep_blank_values=True),
    "ip": address,
    "isIP": holds(ipaddress.ip_address),
    "family": about(lambda a: a.version),
    "isUnspecified": about(lambda a: a.is_unspecified),
    "isLoopback": about(lambda a: a.is_loopback),
    "isLinkLocalMulticast": about(lambda a: a.is_multicast and a.is_link_local),
    "isLinkLocalUnicast": about(lambda a: a.is_link_local and not a.is_multicast),
    "isGlobalUnicast": about(lambda a: not (a.is_unspecified or a.is_loopback or a.is_multicast or a.is_link_local)),  # noqa: E501
    "cidr": network,
    "isCIDR": holds(lambda text: ipaddress.ip_network(text, strict=False) if "/" in text else int(text)),
    "containsIP": inside,
    "containsCIDR": inside,
    "prefixLength": lambda net: ipaddress.ip_network(net[NETWORK]).prefixlen,
    "sets_contains": lambda a, b: all(x in a for x in b),
    "sets_equivalent": lambda a, b: all(x in a for x in b) and all(x in b for x in a),
    "sets_intersects": lambda a, b: any(x in a for x in b),
    "strings_quote": quote,
    "ip_canonical": lambda text: str(ipaddress.ip_address(text)) == text,
}  # fmt: skip

# Functions whose names have a first part, and what they are called inside.
NAMESPACED = {
    ("sets", "contains"): "sets_contains",
    ("sets", "equivalent"): "sets_equivalent",
    ("sets", "intersects"): "sets_intersects",
    ("strings", "quote"): "strings_quote",
    ("ip", "isCanonical"): "ip_canonical",
}
