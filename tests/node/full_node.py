"""A node whose disk is full for a while, and what its pods say of it; prints one line a thing it saw.

python -m tests.node.full_node FOLDER LEVEL     FOLDER: a small file system of its own
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from tests.node.isolation_levels import levels_or_skip
from tests.node.pod_yard import Yard

WAITS = "echo before; while [ ! -e /v/go ]; do sleep 0.05; done; echo while; exit 3"


async def main(root: Path, level: str) -> None:
    yard = Yard(root, levels_or_skip(level))
    volume = root / "beside"
    volume.mkdir()
    host: dict[str, Any] = {"volumes": [{"name": "v", "hostPath": {"path": str(volume)}}]}
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    try:
        yard.run("sh", "-c", WAITS, name="early", container=mount, **host)
        await yard.until(lambda: yard.log("early"))
        fill(root / "full")
        (volume / "go").touch()
        early = (await yard.finished("early")).status["containerStatuses"][0]["state"]["terminated"]
        print("early", early["exitCode"], early["reason"])
        fill(root / "full")
        yard.run("echo", "at last", name="late")
        await yard.until(lambda: yard.now("late").status.get("containerStatuses"))
        await yard.until(lambda: "No space left on device" in str(yard.now("late").status))
        waiting = yard.now("late").status["containerStatuses"][0]["state"]["waiting"]
        print("late", yard.now("late").phase, waiting["reason"])
        told = {e.reason for e in yard.shelf.events if "No space left on device" in e.message}
        print("told", *sorted(told))
        (root / "full").unlink()
        print("late", (await yard.finished("late")).phase, yard.log("late").strip())
    finally:
        (root / "full").unlink(missing_ok=True)
        await yard.close()


def fill(path: Path) -> None:
    """Until not a byte more fits."""
    with path.open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
