"""The switch of a home: the network namespace in which the links of all its pods end.

It knows every pod by a route, every address of a Service as its own, and of all other addresses that nobody
is there: a dead pod is answered for at once, and nothing of these ranges leaves the machine. As root one more
pair of links connects it with the machine, whose routes for the two ranges lead through it. The namespace is
kept by a process that only sleeps, known by `switch.json`; it outlives the platform as pods do. Setting it up
is repeated at every start and changes nothing that is there. Only the standard library: a process forked by
the zygote does it.
"""

from __future__ import annotations

import errno
import os

from .. import lightly
from ..holder import say
from ..lightly import socket
from ..sandbox import kernel, sleepers
from . import rtnetlink
from .rtnetlink import Netlink
from .wiring import LOOPBACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

WISH, RECORD = "network.json", "switch.json"
UPLINK = "machine"
"""The link to the machine, as the switch knows it."""
QUIET = {"icmp_ratelimit": "0"}
"""Settings of the namespace: everybody who asks for a dead pod is told so, however many they are."""


def run(folder: str, ready: int, given: list[int]) -> NoReturn:
    """See that the switch described by *folder*/network.json is there; `started` is said on *ready*."""
    try:
        os.chdir(folder)
        wish: dict[str, Any] = lightly.read(WISH)
        keeper = found(folder) or sleepers.made(RECORD, lambda: kernel.unshare(kernel.NEWNET))
        set_up(wish, keeper)
        say(ready, "started")
    except BaseException as error:
        say(ready, f"failed {type(error).__name__}: {error}")
    os._exit(0)


def found(folder: str) -> int:
    """The process that keeps the switch of the home with this run folder; 0: there is none any more."""
    return sleepers.found(os.path.join(folder, RECORD))


def set_up(wish: dict[str, Any], keeper: int) -> None:
    namespace = os.open(f"/proc/{keeper}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    with Netlink() as machine:
        kernel.join(namespace, kernel.NEWNET)
        if link := wish.get("link"):
            with Netlink() as switch:
                known = UPLINK in switch.links()
            if not known:
                # One that is there leads to a switch that was given up.
                machine.do(rtnetlink.delete_link(link), but=(errno.ENODEV,))
                machine.do(rtnetlink.pair(link, UPLINK, namespace))
            lead_here(machine, wish, machine.links()[link])
        os.close(namespace)
        furnish(wish)
        if link:
            machine.wait_for(machine.links()[link])


def furnish(wish: dict[str, Any]) -> None:
    """Make the network namespace this process is in a switch."""
    with Netlink() as switch:
        switch.do(
            rtnetlink.link_up(LOOPBACK),
            rtnetlink.address(LOOPBACK, wish["gateway"]),
            rtnetlink.unreachable(tuple(wish["pods"])),
            rtnetlink.local(tuple(wish["services"]), LOOPBACK),
        )
        if wish.get("link"):
            index = socket.if_nametoindex(UPLINK)
            switch.do(
                rtnetlink.link_up(index, forwards=True),
                rtnetlink.route((wish["machine"], 32), index, source=wish["gateway"]),
            )
    for name, value in QUIET.items():
        try:
            with open(f"/proc/sys/net/ipv4/{name}", "w", encoding="ascii") as file:
                file.write(value)
        except OSError:
            # Where /proc is closed the kernel's own measure holds.
            continue


def lead_here(machine: Netlink, wish: dict[str, Any], index: int) -> None:
    """The routes of the machine to pods and Services, through its link *index*."""
    through = (index, wish["gateway"], wish["machine"])
    machine.do(
        rtnetlink.link_up(index),
        rtnetlink.address(index, wish["machine"]),
        rtnetlink.route(tuple(wish["pods"]), *through),
        rtnetlink.route(tuple(wish["services"]), *through),
    )


def stop(folder: str) -> None:
    """End the switch of a home, together with its link to the machine."""
    try:
        if link := lightly.read(os.path.join(folder, WISH)).get("link"):
            with Netlink() as machine:
                machine.do(rtnetlink.delete_link(link), but=(errno.ENODEV,))
    except (OSError, ValueError):
        pass  # there never was one, or it is gone
    sleepers.stop(os.path.join(folder, RECORD))
