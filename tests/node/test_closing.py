"""Whoever closes a home leaves no process of it, however little that process has yet said of itself."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from paddlecloud.embedded.node.closing import forks, stop_all
from paddlecloud.embedded.node.launcher import start_zygote
from paddlecloud.settings import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "h")
    made.make()
    return made


async def test_a_home_in_which_nothing_ever_ran(home: Home) -> None:
    assert await stop_all(home) == 0


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.05, 0.08, 0.12, 0.2])
async def test_a_zygote_that_has_just_begun(home: Home, moment: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(moment):
            await start_zygote(home)
    await stop_all(home)
    assert forks(home) == []


async def test_what_the_zygote_was_asked_for_last(home: Home) -> None:
    await start_zygote(home)
    folder = home.run / "nobody" / "containers" / "main" / "0"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"argv": ["sleep", "600"], "env": {}, "cwd": "/"}')
    _, writer = await asyncio.open_unix_connection(home.run / "zygote.sock")
    writer.write(f"run {folder}\n".encode())
    await writer.drain()
    writer.close()
    await stop_all(home, grace=0.1)
    assert forks(home) == []
