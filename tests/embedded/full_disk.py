"""Fills the disk that a store lies on to the last byte, and makes room again.

python full_disk.py FOLDER
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.embedded.stores import RESOURCE, at, body, opened

from paddlecloud.errors import NoSpace


async def main(folder: Path) -> None:
    async with opened(folder / "store.db") as store:
        await store.put(at("first"), body(), 0)
        ballast = folder / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        kept = ["first"]
        try:
            for i in range(100):
                await store.put(at(f"n-{i}"), body(text="y" * 5000), 0)
                kept.append(f"n-{i}")
        except NoSpace as error:
            assert "make room on the disk" in error.message
        else:
            raise AssertionError("the disk was never full")
        assert [e.place.name for e in store.entries(RESOURCE)] == sorted(kept)
        ballast.unlink()
        await store.put(at("later"), body(), 0)
    async with opened(folder / "store.db") as store:
        assert {e.place.name for e in store.entries(RESOURCE)} == {*kept, "later"}


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
