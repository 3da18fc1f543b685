"""Hooks, apart from pods."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlecloud.embedded.node.asking import Target
from paddlecloud.embedded.node.hooks import carry_out
from paddlecloud.embedded.node.launcher import Launcher
from paddlecloud.settings import Home


async def test_a_hook_that_could_not_be_begun_has_not_failed_and_is_tried_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    home.make()
    # Where its lock is a folder no zygote can begin.
    (home.run / "zygote.lock").mkdir()
    (tmp_path / "run.json").write_text('{"sandbox": {}}')
    target = Target("127.0.0.1", {}, tmp_path, Launcher(home))

    with pytest.raises(OSError, match="zygote"):
        await carry_out({"exec": {"command": ["true"]}}, target)


async def test_a_hook_of_an_unknown_kind_says_so(tmp_path: Path) -> None:
    assert "neither exec" in await carry_out({}, Target("127.0.0.1", {}, tmp_path))
