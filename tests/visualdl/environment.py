"""Runs programs with the real VisualDL, in the environment of the suite that serves curves."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.suites import environments

IMAGE = "paddlecloud/visualdl"
PATIENCE = 120


def run(program: str, folder: Path) -> None:
    """Run the text of a program in *folder*."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "MPLCONFIGDIR": str(folder)}
    python = environments.python("visualdl")
    subprocess.run([python, "-c", program], cwd=folder, env=environ, check=True, timeout=PATIENCE)
