"""Runs programs with the real VisualDL, in an environment of its own that is made once a machine."""

from __future__ import annotations

import asyncio
import subprocess
from functools import cache
from pathlib import Path

from tests.suites.environments import ROOT

from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.suites import resolve

SUITES = Path(__file__).parent.parent
"""A folder of suites in which this one is."""
IMAGE = "paddlecloud/test-visualdl"
PATIENCE = 120


@cache
def python() -> Path:
    made = asyncio.run(Environments(ROOT).ensure(resolve(IMAGE, [SUITES]), lambda _: None))
    return made.bin / "python"


def run(program: str, folder: Path) -> None:
    """Run the text of a program in *folder*."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "MPLCONFIGDIR": str(folder)}
    subprocess.run([str(python()), "-c", program], cwd=folder, env=environ, check=True, timeout=PATIENCE)
