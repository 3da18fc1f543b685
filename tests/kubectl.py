"""The exact kubectls the tests know, run so that nothing of the user's own set-up is seen or changed.

They come from the builds of `tests.kubernetes`, never from PATH: a kubectl found there may be of any version.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kubernetes import build
from tests.kubernetes.build_extras import KUBECTLS


@dataclass(frozen=True)
class Program:
    version: str
    path: Path | None
    """None where it has not been built."""


def own_program() -> Program:
    """The kubectl of the version of our server."""
    binaries = build.built()
    return Program(build.version(), binaries / "kubectl" if binaries else None)


def programs() -> list[Program]:
    """Every kubectl that is built, oldest first, and the one of our server's version in any case."""
    others = [Program(extra.version, extra.built()) for extra in KUBECTLS]
    found = [own_program(), *(other for other in others if other.path)]
    return sorted(found, key=lambda program: program.version)


@dataclass(frozen=True)
class Kubectl:
    program: Path
    kubeconfig: Path
    namespace: str
    home: Path
    """Its HOME and its cache; fresh, because the cache is keyed by address alone."""

    def __call__(self, *words: str, stdin: Any = None) -> str:
        """What it prints; an exit code other than 0 is a failure that shows what it said."""
        done = self.run(*words, stdin=stdin)
        assert done.returncode == 0, (
            f"kubectl {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def json(self, *words: str, stdin: Any = None) -> Any:
        return json.loads(self(*words, "-o", "json", stdin=stdin))

    def run(
        self, *words: str, stdin: Any = None, environ: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Any command; *stdin* that is not text is sent as JSON: in YAML, y and n mean two things."""
        text = stdin if isinstance(stdin, str | None) else json.dumps(stdin)
        return subprocess.run(
            [str(self.program), f"--kubeconfig={self.kubeconfig}", f"--namespace={self.namespace}", *words],
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            env={**self.environment(), **(environ or {})},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        home = str(self.home)
        return {"HOME": home, "KUBECACHEDIR": f"{home}/cache", "PATH": os.defpath, "LANG": "C.UTF-8"}
