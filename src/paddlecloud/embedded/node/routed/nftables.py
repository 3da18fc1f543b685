"""The one rule of the switch: what pods say to the world outside goes to a listener of ours instead.

A table of its own, in a network namespace of our own; replaced as a whole in one step, so that it is the old
one or the new one. The rules of the machine are none of our business.
"""

from __future__ import annotations

import os
import socket
import struct
from ipaddress import IPv4Network

from .rtnetlink import ACKNOWLEDGE, CREATE, ERROR, HEAD, LARGEST, PATIENCE, REQUEST, attribute, parts

PROTOCOL = 12
"""Of netlink: the packet filter."""
TABLE, CHAIN = "paddlecloud", "outgoing"
BEGIN, END = 0x10, 0x11
NEW_TABLE, DELETE_TABLE, NEW_CHAIN, NEW_RULE = 0xA00, 0xA02, 0xA03, 0xA06
NESTED = 0x8000
BEFORE_ROUTING, AT_TRANSLATION = 0, -100
FIRST, SECOND = 1, 2
"""Registers."""
DIFFERENT = 1
TRANSPORT_PROTOCOL = 16
NETWORK_HEADER, DESTINATION_AT = 1, 16
DESTINATION = 1
"""What is translated."""


def redirect(made: socket.socket, ours: tuple[IPv4Network, ...], to: tuple[str, int]) -> None:
    """Send connections to any address that is not *ours* to the listener *to*; closes the socket *made*.

    Raises `OSError` where the kernel has no such filter.
    """
    name = attribute(1, TABLE)
    hook = nested(4, number(1, BEFORE_ROUTING), number(2, AT_TRANSLATION))
    messages = (
        message(NEW_TABLE, CREATE | ACKNOWLEDGE, name),
        message(DELETE_TABLE, ACKNOWLEDGE, name),
        message(NEW_TABLE, CREATE | ACKNOWLEDGE, name),
        message(NEW_CHAIN, CREATE | ACKNOWLEDGE, name + attribute(3, CHAIN) + hook + attribute(7, "nat")),
        message(NEW_RULE, CREATE | ACKNOWLEDGE, name + attribute(2, CHAIN) + nested(4, *rule(ours, to))),
    )
    begin, end = (message(kind, 0, b"", about=10) for kind in (BEGIN, END))
    with made:
        made.settimeout(PATIENCE)
        made.send(b"".join((begin, *messages, end)))
        answers = 0
        while answers < len(messages):
            for kind, _, body in parts(made.recv(LARGEST)):
                if kind == ERROR:
                    answers += 1
                    if code := -struct.unpack_from("=i", body)[0]:
                        raise OSError(code, f"the kernel refuses a rule: {os.strerror(code)}")


def rule(ours: tuple[IPv4Network, ...], to: tuple[str, int]) -> list[bytes]:
    """The steps of the rule; the first that does not hold ends it."""
    tcp = bytes([socket.IPPROTO_TCP])
    steps = [
        step("meta", number(1, FIRST), number(2, TRANSPORT_PROTOCOL)),
        step("cmp", number(1, FIRST), number(2, 0), value(3, tcp)),
    ]
    for network in ours:
        mask = value(4, network.netmask.packed)
        steps += [
            step(
                "payload",
                number(1, FIRST),
                number(2, NETWORK_HEADER),
                number(3, DESTINATION_AT),
                number(4, 4),
            ),
            step("bitwise", number(1, FIRST), number(2, FIRST), number(3, 4), mask, value(5, bytes(4))),
            step("cmp", number(1, FIRST), number(2, DIFFERENT), value(3, network.network_address.packed)),
        ]
    return [
        *steps,
        step("immediate", number(1, FIRST), value(2, socket.inet_aton(to[0]))),
        step("immediate", number(1, SECOND), value(2, struct.pack(">H", to[1]))),
        step("nat", number(1, DESTINATION), number(2, socket.AF_INET), number(3, FIRST), number(5, SECOND)),
    ]


def step(name: str, *settings: bytes) -> bytes:
    return nested(1, attribute(1, name), nested(2, *settings))


def value(kind: int, data: bytes) -> bytes:
    return nested(kind, attribute(1, data))


def number(kind: int, amount: int) -> bytes:
    """In network order, as the packet filter has all its numbers."""
    return attribute(kind, struct.pack(">i", amount))


def nested(kind: int, *inner: bytes) -> bytes:
    return attribute(NESTED | kind, b"".join(inner))


def message(kind: int, flags: int, body: bytes, about: int = 0) -> bytes:
    head = struct.pack(">BBH", socket.AF_INET if not about else 0, 0, about)
    return HEAD.pack(HEAD.size + len(head) + len(body), kind, REQUEST | flags, 0, 0) + head + body
