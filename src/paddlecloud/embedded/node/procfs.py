"""What /proc tells about processes. A process is its pid and its start time, in one boot: a pid alone lies.

Only the standard library, and of that as little as possible: the shims use it, and what they touch of the
interpreter they no longer share with each other.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PIECE = 64 * 1024


def start_time(pid: int) -> int:
    """Ticks since boot: with the pid, the identity of a process."""
    return int(stat_fields(pid)[19])


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may itself hold spaces and brackets."""
    return text(f"/proc/{pid}/stat").rpartition(")")[2].split()


def boot() -> str:
    try:
        return text("/proc/sys/kernel/random/boot_id").strip()
    except OSError:
        return ""


def is_alive(state: Mapping[str, Any], whom: str) -> bool:
    """Whether the process lives that *state* means by its entries *whom*, *whom*Start and boot."""
    pid = int(state.get(whom, 0))
    if not pid or state.get("boot") != boot():
        return False
    try:
        fields = stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return False
    # Who is dead and not yet buried has no namespaces any more.
    return fields[0] not in "ZX" and int(fields[19]) == state.get(f"{whom}Start")


def every() -> list[int]:
    """The processes of this machine, as far as we see them."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in text(f"/proc/{pid}/task/{pid}/children").split()]
    except OSError:
        # Kernels without CONFIG_PROC_CHILDREN; and a process that is gone has none.
        return [other for other in every() if parent(other) == pid]


def descendants(pid: int) -> list[int]:
    """The processes below *pid*, parents first; those that lost their parent are not among them."""
    found: list[int] = []
    waiting = children(pid)
    while waiting:
        found += waiting
        waiting = [grandchild for child in waiting for grandchild in children(child)]
    return found


def parent(pid: int) -> int:
    try:
        return int(stat_fields(pid)[1])
    except OSError:
        return 0


def text(path: str) -> str:
    """All of a file, without the buffers of a file object."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        pieces = []
        while piece := os.read(descriptor, PIECE):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces).decode("utf-8", "replace")
