"""Addresses of pods: one 127.B.y.z each, kept with the pod, never given twice.

What is in use is what the pod folders say, so a restart gives nobody a new address.
"""

from __future__ import annotations

from collections.abc import Collection

from ...errors import Failed

A_ROW = 254
"""127.B.y.1 to .254: some programs take .0 and .255 for networks and broadcasts."""
ALL = 256 * A_ROW


def free_address(block: int, used: Collection[str], start: int = 0) -> str:
    """An address of 127.*block*.0.0/16 that is not in *used*, looking from the *start*-th on.

    Looking on from the last one given keeps a dead pod's address away from the next pod for a while.
    """
    for index in range(start, start + ALL):
        y, z = divmod(index % ALL, A_ROW)
        address = f"127.{block}.{y}.{z + 1}"
        if address not in used:
            return address
    raise Failed(f"all {ALL} pod addresses of 127.{block}.0.0/16 are in use")


def position(address: str) -> int:
    """The place of *address* in the order they are given out."""
    _, _, y, z = (int(part) for part in address.split("."))
    return y * A_ROW + z - 1
