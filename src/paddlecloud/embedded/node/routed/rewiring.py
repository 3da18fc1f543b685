"""Connects a pod that lives with a switch that is new: the old one was killed and took the links along.

The request is the pod's folder, whose `hold.json` says how; the answer is `started` or `failed WHY`. Only the
standard library: it runs in a process forked by the zygote.
"""

from __future__ import annotations

import os

from ..holder import RECORD, WISH, say
from ..sandbox import entering, kernel
from . import wiring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run(folder: str, ready: int, given: list[int]) -> NoReturn:
    try:
        holder = os.pidfd_open(int(entering.content(folder, RECORD)["pid"]))
        kernel.join(holder, kernel.NEWNET)
        os.close(holder)
        wiring.wire(entering.content(folder, WISH)["network"])
        say(ready, "started")
    except BaseException as error:
        say(ready, f"failed {type(error).__name__}: {error}")
    os._exit(0)
