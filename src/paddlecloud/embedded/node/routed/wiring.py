"""Connects the network namespace of a pod with the switch: one pair of links and one route a pod.

The pod's end is `eth0` with the pod's address, the other end is named after that address; all that the pod
says goes to the switch, and the switch knows the pod by a route of its own. Nothing has to be taken back: a
namespace takes its links along when its last process ends, and a link its routes. Only the standard library.
"""

from __future__ import annotations

import errno
import os

from ..lightly import socket
from ..sandbox import kernel
from . import rtnetlink
from .rtnetlink import Netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INSIDE = "eth0"
LOOPBACK = 1
"""The number of `lo` in every namespace."""
ALL = ("0.0.0.0", 0)


def wire(wish: dict[str, Any]) -> None:
    """Connect the namespace this process is in; it has one thread and is there again afterwards.

    *wish*: `address` of the pod, `gateway`, and `switch`, a process in the namespace of the switch.
    """
    address, gateway = wish["address"], wish["gateway"]
    switch = os.open(f"/proc/{wish['switch']}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        name = outside_name(address)
        with Netlink() as inside:
            connect(inside, name, switch)
            index = socket.if_nametoindex(INSIDE)
            inside.do(
                rtnetlink.link_up(LOOPBACK),
                rtnetlink.link_up(index),
                rtnetlink.address(index, address),
                rtnetlink.route(ALL, index, gateway),
            )
            kernel.join(switch, kernel.NEWNET)
            try:
                lead_to(address, name, gateway)
            finally:
                kernel.join(own, kernel.NEWNET)
            inside.wait_for(index)
    finally:
        os.close(switch)
        os.close(own)


def lead_to(address: str, name: str, gateway: str) -> None:
    """In the namespace of the switch: take its end into use, and tell it who is at the other."""
    with Netlink() as outside:
        index = socket.if_nametoindex(name)
        outside.do(
            rtnetlink.link_up(index, forwards=True),
            rtnetlink.route((address, 32), index, source=gateway),
        )


def connect(inside: Netlink, name: str, switch: int) -> None:
    """Make the pair of links; what is left of an earlier one goes first."""
    try:
        inside.do(rtnetlink.pair(INSIDE, name, switch))
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise
        inside.do(rtnetlink.delete_link(INSIDE), but=(errno.ENODEV,))
        inside.do(rtnetlink.pair(INSIDE, name, switch))


def outside_name(address: str) -> str:
    """The name of a pod's link in the switch."""
    return f"pod{socket.inet_aton(address).hex()}"
