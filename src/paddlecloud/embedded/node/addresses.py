"""Addresses of pods: one of the cluster's range each, kept with the pod, never given twice.

What is in use is what the pod folders say, so a restart gives nobody a new address.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network

from ...errors import Failed

A_ROW = 254
"""x.y.z.1 to .254: some programs take .0 and .255 for networks and broadcasts."""


def free_address(network: IPv4Network, used: Collection[str], start: int = 0) -> str:
    """An address of *network*, a /24 or larger, that is not in *used*, looking from the *start*-th on.

    Looking on from the last one given keeps a dead pod's address away from the next pod for a while.
    """
    every = network.num_addresses // 256 * A_ROW
    for index in range(start, start + every):
        row, place = divmod(index % every, A_ROW)
        address = str(network[row * 256 + place + 1])
        if address not in used:
            return address
    raise Failed(f"all {every} pod addresses of {network} are in use")


def position(network: IPv4Network, address: str) -> int:
    """The place of *address* in the order they are given out."""
    row, place = divmod(int(IPv4Address(address)) - int(network.network_address), 256)
    return row * A_ROW + place - 1
