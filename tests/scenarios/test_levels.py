"""The walk needs no rights: it is the same in a default container and for an ordinary user."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.node import confinement
from tests.scenarios.ordinary_user import NotHere, ordinary_user
from tests.scenarios.pdc_home import PDC, PdcHome, fresh_home

CONFINED = (sys.executable, str(Path(confinement.__file__)))
SHORT = ("demo", "--epochs", "4")


def confined(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CONFINED, *command], capture_output=True, text=True)


@pytest.fixture
def confining() -> None:
    tried = confined("true")
    if tried.returncode:
        pytest.skip(f"this machine lets nobody confine a process: {tried.stderr.strip()[-300:]}")


@pytest.mark.usefixtures("confining")
def test_the_confinement_takes_rights_away() -> None:
    """Else the walk below would prove nothing."""
    tried = "import ctypes; c = ctypes.CDLL(None, use_errno=True); c.unshare({}); print(ctypes.get_errno())"
    user_namespace, mount_namespace = 0x10000000, 0x00020000

    assert confined(sys.executable, "-c", tried.format(user_namespace)).stdout.strip() == "1"
    assert confined(sys.executable, "-c", tried.format(mount_namespace)).stdout.strip() == "1"
    status = confined("cat", "/proc/self/status").stdout
    words = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    assert words["Seccomp"] == "2" and words["NoNewPrivs"] == "1"
    if os.getuid() == 0:
        sys_admin = 1 << 21
        assert not int(words["CapEff"], 16) & sys_admin and not int(words["CapBnd"], 16) & sys_admin


@pytest.mark.usefixtures("confining")
def test_the_walk_succeeds_in_a_default_container() -> None:
    with fresh_home(program=(*CONFINED, *PDC)) as home:
        succeeds(home)


def test_the_walk_succeeds_for_an_ordinary_user() -> None:
    try:
        with ordinary_user() as user:
            home = user.home(user.check_out())
            try:
                succeeds(home)
                assert {path.lstat().st_uid for path in home.home.root.rglob("*")} == {user.uid}
            finally:
                home.clear()
    except NotHere as reason:
        pytest.skip(str(reason))


def succeeds(home: PdcHome) -> None:
    assert "answered, accuracy" in home.ok(*SHORT)
    home.wait_until_empty()
