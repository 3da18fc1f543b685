"""Runs a program with the clients of others, in an environment of their own."""

from __future__ import annotations

import asyncio
import subprocess
from functools import cache
from pathlib import Path

from tests.suites.environments import ROOT

from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.suites import resolve

HERE = Path(__file__).parent
PATIENCE = 120


@cache
def binaries() -> Path:
    suite = resolve("paddlecloud/test-clients", [HERE.parent])
    return Path(asyncio.run(Environments(ROOT).ensure(suite, lambda _: None)).bin)


def run(program: str, *arguments: str, home: Path, kubeconfig: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of this folder; what it prints is its result."""
    return command(
        [str(binaries() / "python"), str(HERE / "programs" / program), *arguments], home, kubeconfig
    )


def command(line: list[str], home: Path, kubeconfig: Path) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": f"{binaries()}:/usr/bin:/bin",
        "HOME": str(home),
        "KUBECONFIG": str(kubeconfig),
        "LANG": "C.UTF-8",
    }
    return subprocess.run(line, env=environ, capture_output=True, text=True, timeout=PATIENCE, cwd=home)
