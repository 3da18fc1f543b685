"""The levels of isolation for tests: what this machine does not allow is skipped with its reason."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.embedded.node.sandbox import levels, survey
from paddlecloud.embedded.node.sandbox.levels import Levels

LEVELS = ("root", "user", "plain")
SANDBOXED = ("root", "user")
_WISHES = {"root": "auto", "user": "namespaces", "plain": "plain"}


def levels_or_skip(level: str) -> Levels:
    """What holds at *level* here; skips the test when this machine does not have it."""
    found = levels.decided(probed(), _WISHES[level])
    if not is_at(level, found):
        pytest.skip(f"this machine has no level {level!r}: {found.why_not['filesystem']}")
    return found


def best_level() -> str:
    """The strongest that this machine has."""
    return next(level for level in LEVELS if is_at(level, levels.decided(probed(), _WISHES[level])))


def is_at(level: str, found: Levels) -> bool:
    has = {
        "root": found.filesystem == "overlay" and not found.user_namespace,
        "user": found.filesystem != "plain" and found.user_namespace,
        "plain": True,
    }
    return has[level]


@functools.cache
def probed() -> dict[str, Any]:
    embedded = Path(survey.__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-S", "-I", "-c", survey.PROBE, str(embedded), folder]
        answer = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
    found: dict[str, Any] = json.loads(answer)
    return found
