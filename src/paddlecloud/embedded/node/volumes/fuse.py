"""Whether programs can serve file systems here (FUSE): found out by mounting one, which takes no time."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..sandbox import kernel

DEVICE = "/dev/fuse"
PROGRAMS = ("fusermount3", "fusermount")
PROBE = "fuse-probe"


def why_not(run: Path, user: int, device: str = DEVICE) -> str:
    """What speaks against FUSE for *user*, in a sentence; empty: it works. *run* is a folder to try in."""
    try:
        opened = os.open(device, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        return f"{device} cannot be opened: {error.strerror}"
    try:
        if user != 0:
            # Only a program with root's rights may mount for others, and it does so when asked to.
            there = any(shutil.which(program) for program in PROGRAMS)
            return "" if there else f"{PROGRAMS[0]} is missing: install fuse3, or run as root"
        return tried(run / PROBE, opened)
    finally:
        os.close(opened)


def tried(place: Path, opened: int) -> str:
    """Why nothing can be mounted at *place*; empty: it could, and is not there any more."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        options = f"fd={opened},rootmode=40000,user_id=0,group_id=0"
        kernel.mount(PROBE, str(place), "fuse", kernel.NOSUID | kernel.NODEV, options)
        kernel.unmount(str(place))
        place.rmdir()
    except OSError as error:
        return f"a mount of FUSE was refused: {error.strerror or error}"
    return ""
