"""Where calls of a container to the network may be looked at before the kernel answers them.

Only the standard library: `prepare_child` runs in the container's first process, `serve` in its shim. Today
nothing is looked at.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .loop import Loop


def prepare_child(order: dict[str, Any]) -> int | None:
    """The last thing before exec: a descriptor that the shim is to serve, or None."""
    return None


def serve(loop: Loop, fd: int, order: dict[str, Any]) -> None:
    """Answer on *loop* what arrives at *fd*, the descriptor that `prepare_child` made."""
