"""Who may call the pipelines service: the owner of the cluster and root, not all who share the machine.

The clients of kfp show no key to a service of this kind, and whoever starts a run starts processes of the
owner. So the kernel is asked instead: its table of connections names the user at the other end of one on
loopback. A browser speaks for its user with whatever page it shows, so a page of elsewhere is refused too.

Pods come through the proxy of Services, behind which the kernel sees none of them: they show the token of
their account, and what is done for them is done with it.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Collection, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from ..cluster.kubeconfig import Access
from ..errors import Forbidden, Unauthorized

TABLE = Path("/proc/self/net/tcp")
ROOT = 0
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
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


def on_behalf(access: Access, header: str) -> Access:
    """The access of the caller who sent this header and of nobody else; raises `Unauthorized`."""
    kind, _, token = header.partition(" ")
    if kind.lower() != "bearer" or not TOKEN.fullmatch(token):
        raise Unauthorized(
            "the pipelines service asks callers in pods for the token of their account",
            next_step="kfp.Client(host=…, existing_token=open('/var/run/secrets/kubernetes.io/"
            "serviceaccount/token').read())",
        )
    return Access(access.server, access.name, access.namespace, access.ca, token, tls_name=access.tls_name)


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
