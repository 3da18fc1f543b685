"""Programs with the SDKs of Kubeflow Pipelines, unmodified, each generation in an environment of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
from functools import cache
from pathlib import Path

from tests.suites.environments import ROOT

from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.suites import resolve

HERE = Path(__file__).parent
PATIENCE = 240


@cache
def binaries(generation: int) -> Path:
    suite = resolve(f"paddlecloud/test-kfp{generation}", [HERE])
    return Path(asyncio.run(Environments(ROOT).ensure(suite, lambda _: None)).bin)


def run(
    generation: int, program: Path, *arguments: str, home: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program with the SDK of a generation; what it prints is its result."""
    return command(generation, ["python", str(program), *arguments], home, **variables)


def command(
    generation: int, line: list[str], home: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    # The SDK keeps settings in the home of its user: everybody gets an empty one.
    environ = {
        "PATH": f"{binaries(generation)}:{os.defpath}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        **variables,
    }
    line = [str(binaries(generation) / line[0]), *line[1:]]
    return subprocess.run(line, env=environ, capture_output=True, text=True, timeout=PATIENCE, cwd=home)
