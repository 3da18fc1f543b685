"""The loop of those who look at everything at once."""

from __future__ import annotations

import asyncio

from paddlecloud.embedded.workloads.looking import look_on_change


async def test_a_change_after_a_silence_is_looked_at_at_once_and_a_burst_with_one_look() -> None:
    changed, looks = asyncio.Event(), 0

    async def look() -> None:
        nonlocal looks
        looks += 1

    looking = asyncio.create_task(look_on_change("test", (), look, changed=changed))
    try:
        for _ in range(5):
            await asyncio.sleep(0)
        assert looks == 1
        for _ in range(100):
            changed.set()
        async with asyncio.timeout(20):
            while looks < 2:
                await asyncio.sleep(0.001)
        assert looks == 2 and not changed.is_set()
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
