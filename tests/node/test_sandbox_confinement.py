"""The levels of a machine that allows nothing: what is probed there, and a pod that runs all the same."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddlecloud.embedded.node.sandbox import levels, survey

CONFINED = [sys.executable, str(Path(__file__).with_name("confinement.py")), sys.executable]
TRIED = "import ctypes; c = ctypes.CDLL(None, use_errno=True); c.unshare({}); print(ctypes.get_errno())"
STATUS = "print(open('/proc/self/status').read())"
USER_NAMESPACE, MOUNT_NAMESPACE, SYS_ADMIN = 0x10000000, 0x00020000, 1 << 21


def confined(*arguments: str) -> str:
    """What Python says inside, run with these arguments."""
    # What somebody asks of the outer pytest is not asked of one inside.
    environ = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        [*CONFINED, *arguments], capture_output=True, text=True, timeout=120, check=False, env=environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("namespace", [USER_NAMESPACE, MOUNT_NAMESPACE])
def test_no_namespace_can_be_made_there(namespace: int) -> None:
    """Else all that runs there would prove nothing."""
    assert confined("-c", TRIED.format(namespace)).strip() == str(errno.EPERM)


def test_nothing_lost_there_comes_back() -> None:
    words = dict(line.split(":\t") for line in confined("-c", STATUS).splitlines() if ":\t" in line)
    assert (words["Seccomp"], words["NoNewPrivs"]) == ("2", "1")
    assert not int(words["CapEff"], 16) & SYS_ADMIN
    if os.getuid() == 0:
        assert not int(words["CapBnd"], 16) & SYS_ADMIN


def test_where_nothing_is_allowed_pods_are_plain_processes_and_it_is_said_why(tmp_path: Path) -> None:
    embedded = Path(survey.__file__).resolve().parents[2]
    probed = json.loads(confined("-S", "-I", "-c", survey.PROBE, str(embedded), str(tmp_path)))
    found = levels.decided(probed, "auto")
    assert (found.filesystem, found.user_namespace) == ("plain", False)
    assert "Operation not permitted" in levels.words(found)["filesystem"]
    assert not list(tmp_path.iterdir())


def test_pods_run_there() -> None:
    chosen = f"{Path(__file__).with_name('test_sandbox_pods.py')}::test_the_last_words_of_a_container_arrive"
    told = confined("-m", "pytest", "-q", "-p", "no:cacheprovider", "-rsp", chosen)
    assert [line.split()[0] for line in told.splitlines() if chosen.rpartition("::")[2] in line] == ["PASSED"]
    assert "this machine has no level 'root'" in told and "this machine has no level 'user'" in told
