"""Writes to a store for as long as it lives, and says every write only after it was acknowledged.

python -m tests.embedded.store_writer FILE
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.embedded.stores import at, body

from paddlecloud.embedded.store import Store

WRITERS = 8


async def write(store: Store, writer: int) -> None:
    revision = 0
    for count in range(1_000_000):
        entry = await store.put(at(f"w{writer}"), body(count=count), revision)
        revision = entry.revision
        print(f"w{writer} {count} {revision}", flush=True)


async def main(path: Path) -> None:
    store = Store(path)
    await asyncio.gather(*(write(store, i) for i in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
