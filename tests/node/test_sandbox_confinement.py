"""The levels of a machine that allows nothing: what is probed there, and a pod that runs all the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from paddlecloud.embedded.node.sandbox import levels, survey

CONFINED = [sys.executable, str(Path(__file__).with_name("confinement.py")), sys.executable]


def confined(*arguments: str) -> str:
    """What Python says inside, run with these arguments."""
    done = subprocess.run([*CONFINED, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
