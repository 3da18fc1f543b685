"""A component that is a function, as the program of the suite runs it in the environment of the suite."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.suites.environments import python, suite, variables

from paddlecloud.controllers import workflowlauncher

SOURCE = "import kfp\nfrom kfp import dsl\nfrom kfp.dsl import *\nfrom typing import *\n\n"


def run(folder: Path, body: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    """What became of a function of *a*, and what it told."""
    result, message = folder / "out" / "executor_output.json", folder / "message"
    output = folder / "out" / "parameters" / "Output"
    order = {
        "outputs": {"Output": [str(output), None, "NUMBER_INTEGER"]},
        "artifacts": {},
        "executor": str(result),
    }
    told = {
        "inputs": {"parameterValues": {"a": 4}},
        "outputs": {
            "parameters": {"Output": {"outputFile": str(output)}},
            "outputFile": str(result),
        },
    }
    source = f"{SOURCE}def it(a: int) -> int:\n    {body}\n"
    arguments = ["--executor_input", json.dumps(told), "--function_to_execute", "it"]
    code = suite("kfp").code
    assert code is not None
    done = subprocess.run(
        [python("kfp"), "-m", "functionstep", json.dumps(order), source, *arguments],
        env={
            **variables("kfp"),
            "PYTHONPATH": "",
            "WORKFLOW_LAUNCHER": workflowlauncher.__file__,
            "TERMINATION_MESSAGE_PATH": str(message),
        },
        cwd=code,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done, json.loads(message.read_text()) if message.exists() else None


def test_a_function_hands_over_what_it_returns(tmp_path: Path) -> None:
    done, told = run(tmp_path, "print('hello'); return a + 1")

    assert done.returncode == 0, done.stderr
    assert told == {"outputs": {"Output": 5}, "artifacts": {}}
    assert "hello\n" in done.stdout


@pytest.mark.parametrize(
    "body, code, said",
    [
        ("raise ValueError('no good')", 1, "ValueError: no good"),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('so it ends')", 1, "so it ends"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137, ""),
        ("return 'four'", 1, ""),
    ],
)
def test_a_function_that_fails_ends_as_it_would_alone(
    tmp_path: Path, body: str, code: int, said: str
) -> None:
    done, told = run(tmp_path, body)

    assert (done.returncode, told) == (code, None)
    assert said in done.stderr
