"""Who may call the pipelines service: the owner of the cluster and root, not all who share the machine.

The clients of kfp show no key to a service of this kind, and whoever starts a run starts processes of the
owner. So the kernel is asked instead: its table of connections names the user at the other end of one on
loopback. A browser speaks for its user with whatever page it shows, so a page of elsewhere is refused too.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Collection, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from ..errors import Forbidden

TABLE = Path("/proc/self/net/tcp")
ROOT = 0
Address = tuple[str, int]


def check(caller: Address, here: Address, origin: str, host: str) -> None:
    """Raises `Forbidden` for another user of this machine and for pages of other origins."""
    if foreign(origin, host):
        raise Forbidden(f"a page of {origin} may not use the pipelines service of this machine")
    with TABLE.open() as lines:
        user = user_of(lines, caller, here)
    if not trusted(user, (os.getuid(), ROOT)):
        who = "an unknown user" if user is None else f"the user {user}"
        raise Forbidden(
            f"the pipelines service of this cluster serves the user {os.getuid()}, who started it, "
            f"and this is {who}; start a cluster of your own with `pdc up`"
        )


def trusted(user: int | None, owners: Collection[int]) -> bool:
    return user in owners


def user_of(lines: Iterable[str], caller: Address, here: Address) -> int | None:
    """The user that a row of the kernel's table names for the connection from *caller* to *here*."""
    ends = [in_hex(caller), in_hex(here)]
    for line in lines:
        columns = line.split()
        if columns[1:3] == ends:
            return int(columns[7])
    return None


def in_hex(address: Address) -> str:
    """As the kernel writes it: the number of the address in the byte order of the machine."""
    host, port = address
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"


def foreign(origin: str, host: str) -> bool:
    """Whether a browser asks for a page that is not of this very service; programs send no origin."""
    return bool(origin) and urlsplit(origin).netloc != host
