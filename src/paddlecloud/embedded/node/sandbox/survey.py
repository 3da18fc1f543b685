"""Finds out the levels of this machine: from the file of this boot, else by a process that probes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....errors import Failed
from ....settings import Home
from .. import procfs
from . import levels
from .levels import Levels

PATIENCE = 30.0
PROBE = (
    "import sys; sys.path.append(sys.argv[1]); from node.sandbox import probing; probing.main(sys.argv[2])"
)


async def survey(home: Home, wish: str, network: str = "auto") -> Levels:
    """The levels that hold for pods of *home* under the settings *wish* and *network*."""
    path, boot, user = home.run / levels.FILE, procfs.boot(), os.geteuid()
    both = f"{wish} {network}"
    kept = levels.read(path.read_text(encoding="utf-8"), boot, both, user) if path.exists() else None
    # A session that has ended takes its control groups along.
    if kept is not None and all(os.path.isdir(folder) for folder in kept.groups.values()):
        return kept
    found = levels.decided(await probed(home), wish, network)
    levels.write(path, found, boot, both, user)
    return found


async def probed(home: Home) -> dict[str, Any]:
    embedded = Path(__file__).resolve().parents[2]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-S", "-I", "-c", PROBE, str(embedded), str(home.run),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE):
            answer, complaint = await process.communicate()
        found: dict[str, Any] = json.loads(answer)
        return found
    except (TimeoutError, ValueError) as error:
        said = complaint.decode(errors="replace")[-300:] if isinstance(error, ValueError) else "no answer"
        raise Failed(
            f"what this machine allows could not be found out: {said}",
            next_step="set PADDLECLOUD_ISOLATION=plain to go on without",
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def group_bases(found: Levels, home: Home) -> Mapping[str, str]:
    """The control groups of this home, by controller; those of its pods lie in them."""
    tag = hashlib.sha256(os.fsencode(home.root)).hexdigest()[:12]
    return {controller: os.path.join(own, f"paddlecloud-{tag}") for controller, own in found.groups.items()}
