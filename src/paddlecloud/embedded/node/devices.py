"""The GPUs of this machine, as the driver's own program tells them; none where there is no such program.

One GPU belongs to one node: virtual nodes of one machine share them out and never both count the same one.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from ... import log

PROGRAM = "nvidia-smi"
QUESTION = ("--query-gpu=uuid,name,memory.total", "--format=csv,noheader,nounits")
PATIENCE = 20.0
"""Seconds; the first question after a boot may load the driver."""


@dataclass(frozen=True)
class Gpu:
    uuid: str
    name: str
    mebibytes: int = 0


def gpus() -> tuple[Gpu, ...]:
    program = shutil.which(PROGRAM)
    if program is None:
        return ()
    try:
        done = subprocess.run(
            [program, *QUESTION], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log.logger("node").warning("GPUs are not counted: %s: %s", PROGRAM, error)
        return ()
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        log.logger("node").warning("GPUs are not counted: %s: %s", PROGRAM, said[-1] if said else "failed")
        return ()
    return parsed(done.stdout)


def parsed(answer: str) -> tuple[Gpu, ...]:
    """The lines of the answer that name a GPU."""
    found = []
    for line in answer.splitlines():
        uuid, name, size = (*(part.strip() for part in line.split(",")), "", "", "")[:3]
        if uuid.startswith(("GPU-", "MIG-")):
            found.append(Gpu(uuid, name, int(size) if size.isdecimal() else 0))
    return tuple(found)


def share(found: Sequence[Gpu], nodes: int, index: int) -> tuple[Gpu, ...]:
    """Those of the node with this number; of one model each gets as many as any other, give or take one."""
    return tuple(found[index::nodes])
