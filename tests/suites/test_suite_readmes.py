"""What the READMEs of the model suites tell to type, typed in the folder that their containers start in."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.suites.environments import suite, variables

pytestmark = pytest.mark.long
NAMES = ("paddleclas", "paddledetection", "paddlenlp", "paddleocr", "paddlerec")


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_a_readme_run_as_written(tmp_path: Path, name: str) -> None:
    code = suite(name).code
    assert code is not None
    shutil.copytree(code, tmp_path / "code")
    [block] = re.findall(r"^```sh\n(.*?)^```", (suite(name).folder / "README.md").read_text(), re.M | re.S)
    done = subprocess.run(
        ["sh", "-e", "-c", block],
        cwd=tmp_path / "code",
        env=variables(name),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
