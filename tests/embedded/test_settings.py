"""Settings come from the environment or from the table; a home knows where its things lie."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from paddlecloud.settings import SETTINGS, Home, shipped, value


def test_every_setting_has_a_help_and_a_variable() -> None:
    for setting in SETTINGS:
        assert setting.help and setting.variable == f"PADDLECLOUD_{setting.name.upper()}"
    assert len({s.name for s in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize(
    "environ, result",
    [
        ({}, "info"),
        ({"PADDLECLOUD_LOG_LEVEL": "debug"}, "debug"),
        ({"PADDLECLOUD_LOG_LEVEL": ""}, "info"),
        ({"LOG_LEVEL": "debug"}, "info"),
    ],
)
def test_the_environment_wins_over_the_default(environ: dict[str, str], result: str) -> None:
    assert value("log_level", environ) == result


def test_a_setting_nobody_declared_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        value("colour", {})


def test_a_home_is_found_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("PADDLECLOUD_HOME", "relative")
    assert Home("given").root == tmp_path / "given"
    assert Home("~/there").root == tmp_path / "me" / "there"
    assert Home().root == tmp_path / "relative"
    monkeypatch.delenv("PADDLECLOUD_HOME")
    assert Home().root == tmp_path / "me" / ".paddlecloud"


def test_everything_of_a_cluster_lies_in_its_home_and_is_closed(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    old = os.umask(0)
    try:
        home.make()
        home.make()  # a second start finds them
    finally:
        os.umask(old)

    made = [home.root, *home.root.iterdir()]
    assert {p.name for p in made} >= {"pki", "run", "logs", "volumes", "objects"}
    assert {stat.S_IMODE(p.stat().st_mode) for p in made} == {0o700}
    for path in (home.kubeconfig, home.store, home.state, home.pods("node-0")):
        assert path.is_relative_to(home.root)


def test_environments_may_lie_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PADDLECLOUD_ENVIRONMENTS", raising=False)
    assert Home(tmp_path).environments == tmp_path / "environments"
    monkeypatch.setenv("PADDLECLOUD_ENVIRONMENTS", str(tmp_path / "shared"))
    assert Home(tmp_path / "home").environments == tmp_path / "shared"


@pytest.mark.parametrize("name", ["suites", "deploy/crds"])
def test_what_is_shipped_is_found(name: str) -> None:
    assert any(shipped(name).iterdir())
