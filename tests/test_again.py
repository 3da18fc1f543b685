"""The rule by which a failed test is tried again, and that one which fails twice fails the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.again import MOST, worth_another_try

ROOT = Path(__file__).parent.parent
ONCE = """
from pathlib import Path
def test_that_fails_{when}():
    mark = Path({mark!r})
    seen = mark.exists()
    mark.touch()
    assert {condition}
def test_that_passes():
    pass
"""


@pytest.mark.parametrize(
    "code, failed, again",
    [
        (0, 0, False),
        (1, 1, True),
        (1, MOST, True),
        (1, MOST + 1, False),
        (1, 0, False),  # something else than a test
        (2, 1, False),  # interrupted
        (5, 0, False),  # no test at all
    ],
)
def test_what_is_tried_again(code: int, failed: int, again: bool) -> None:
    assert worth_another_try(code, [str(n) for n in range(failed)]) is again


@pytest.mark.parametrize("when, condition, code", [("once", "seen", 0), ("always", "False", 1)])
def test_a_failure_is_what_fails_both_times(tmp_path: Path, when: str, condition: str, code: int) -> None:
    file = tmp_path / "test_accident.py"
    file.write_text(ONCE.format(when=when, mark=str(tmp_path / "mark"), condition=condition))
    command = [sys.executable, "-m", "tests.again", "--numprocesses=2", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == code, done.stdout
    name = f"test_accident.py::test_that_fails_{when}"
    assert ("passed only alone" in done.stdout and name in done.stdout) is (code == 0)
