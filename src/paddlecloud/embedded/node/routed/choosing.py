"""Which ranges a home uses for routed pods: those it has, those it is asked to take, or two that are free.

They are chosen once, because pods and Services keep their addresses, and compared with the machine's routes
at every start.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import IPv4Network

from ....errors import Failed
from ....settings import Home, value
from ... import ranges
from ...ranges import Ranges
from ..sandbox.levels import Levels
from ..sandbox.survey import survey
from .network import link_of
from .rtnetlink import Netlink


@dataclass(frozen=True)
class Asked:
    """The ranges as a user names them; empty where nothing was said."""

    pods: str = ""
    services: str = ""

    def __bool__(self) -> bool:
        return bool(self.pods or self.services)


async def choose(home: Home, asked: Asked, kept: Ranges | None, luck: int) -> Ranges | None:
    """The ranges that hold in *home* from this start on; see `ranges_for`."""
    levels = await survey(home, value("isolation"), value("network"))
    return ranges_for(asked, kept, levels, machine_routes(home), luck)


def ranges_for(
    asked: Asked, kept: Ranges | None, levels: Levels, routes: tuple[IPv4Network, ...], luck: int
) -> Ranges | None:
    """The ranges of pods and Services; None: pods are on the machine's network, with addresses on loopback.

    *kept* are those the home has, *routes* what else the machine reaches. Raises `Failed` for ranges that do
    not go together with either.
    """
    if levels.network != "namespaces":
        if asked:
            why = levels.why_not.get("network") or "not asked for"
            raise Failed(
                f"pods have no network of their own here ({why}): their addresses cannot be chosen",
                next_step="leave out --pod-range and --service-range; `pdc status` says how to get more",
            )
        return None
    before = kept or ranges.chosen(routes, luck)
    found = ranges.read(asked.pods or str(before.pods), asked.services or str(before.services))
    if kept is not None and found != kept:
        raise Failed(
            f"the pods and Services of this home have their addresses in {kept.pods} and {kept.services}",
            next_step="leave out --pod-range and --service-range, or begin anew with `pdc reset`",
        )
    ranges.check(found, routes)
    return found


def machine_routes(home: Home) -> tuple[IPv4Network, ...]:
    """What this machine reaches by a route of its own; not the default, and not the pods of *home*."""
    with Netlink() as machine:
        try:
            own = socket.if_nametoindex(link_of(home))
        except OSError:
            own = -1
        return tuple(
            IPv4Network(f"{address}/{length}")
            for (address, length), link in machine.routes()
            if length and link != own
        )
