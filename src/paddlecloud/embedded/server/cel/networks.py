"""URLs, IP addresses and networks as values of CEL; pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .declarations import ADDRESS, NETWORK, URL
from .values import CelError, holds

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
LINK_LOCAL_GROUPS = ipaddress.ip_network("224.0.0.0/24")


@dataclass(frozen=True)
class Url:
    text: str
    TYPE = URL


@dataclass(frozen=True)
class Ip:
    address: Address
    TYPE = ADDRESS

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True)
class Cidr:
    interface: ipaddress.IPv4Interface | ipaddress.IPv6Interface
    TYPE = NETWORK

    def __str__(self) -> str:
        return str(self.interface)


def url(text: str) -> Url:
    try:
        absolute = bool(urlsplit(text).scheme) or text.startswith("/")
    except ValueError:
        absolute = False
    if not absolute:
        raise CelError(
            f'URL parse error during conversion from string: parse "{text}": invalid URI for request'
        )
    return Url(text)


def part(read: Callable[[Any], Any]) -> Callable[[Url], Any]:
    return lambda value: read(urlsplit(value.text)) or ""


def address(value: Any) -> Ip:
    if isinstance(value, Cidr):
        return Ip(value.interface.ip)
    try:
        found = ipaddress.ip_address(value)
    except ValueError as error:
        cause = f'ParseAddr("{value}"): unable to parse IP'
        raise CelError(f'IP Address "{value}" parse error during conversion from string: {cause}') from error
    if "%" in value:
        raise CelError(f'IP address "{value}" with zone value is not allowed')
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        raise CelError(f'IPv4-mapped IPv6 address "{value}" is not allowed')
    return Ip(found)


def network(text: str) -> Cidr:
    # Python also takes a netmask, and an address alone.
    try:
        if re.search(r"/\d+$", text):
            return Cidr(ipaddress.ip_interface(text))
        cause = "no '/'"
    except ValueError as error:
        cause = str(error)
    # Said twice where it comes from, too.
    said = "network address parse error during conversion from string: "
    raise CelError(f'{said}{said}netip.ParsePrefix("{text}"): {cause}')


def contains_address(net: Cidr, other: Any) -> bool:
    return (address(other) if isinstance(other, str) else other).address in net.interface.network


def contains_network(net: Cidr, other: Any) -> bool:
    wide = net.interface.network
    narrow = (network(other) if isinstance(other, str) else other).interface
    return bool(narrow.ip in wide and narrow.network.prefixlen >= wide.prefixlen)


def about(read: Callable[[Any], Any]) -> Callable[[Ip], Any]:
    return lambda value: read(value.address)


def link_local_multicast(found: Address) -> bool:
    if isinstance(found, ipaddress.IPv4Address):
        return found in LINK_LOCAL_GROUPS
    return found.is_multicast and found.packed[1] & 15 == 2


def global_unicast(found: Address) -> bool:
    return not (found.is_unspecified or found.is_loopback or found.is_multicast or found.is_link_local)


NETWORKS: dict[str, Callable[..., Any]] = {
    "url": url,
    "isURL": holds(url),
    "getScheme": part(lambda u: u.scheme),
    "getHost": part(lambda u: u.netloc.rpartition("@")[2]),
    "getHostname": part(lambda u: u.hostname),
    "getPort": part(lambda u: str(u.port or "")),
    "getEscapedPath": part(lambda u: u.path),
    "getQuery": lambda value: parse_qs(urlsplit(value.text).query, keep_blank_values=True),
    "ip": address,
    "isIP": holds(address),
    "ip.isCanonical": lambda text: str(address(text)) == text,
    "family": about(lambda a: a.version),
    "isUnspecified": about(lambda a: a.is_unspecified),
    "isLoopback": about(lambda a: a.is_loopback),
    "isLinkLocalMulticast": about(link_local_multicast),
    "isLinkLocalUnicast": about(lambda a: a.is_link_local),
    "isGlobalUnicast": about(global_unicast),
    "cidr": network,
    "isCIDR": holds(network),
    "containsIP": contains_address,
    "containsCIDR": contains_network,
    "prefixLength": lambda net: net.interface.network.prefixlen,
    "masked": lambda net: Cidr(ipaddress.ip_interface(str(net.interface.network))),
}
