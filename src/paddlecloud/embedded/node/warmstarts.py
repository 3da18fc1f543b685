"""Which containers start warm, and the file that tells a warm zygote what to import; pure but for `write`.

A suite names the modules in `warm`; a container starts warm when its command is one of these modules, run by
`python -m`. One warm zygote serves all containers of a suite.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .environments import Environment
from .suites import Suite

PREFIX = "warm-"
PROGRAMS = ("python", "python3")


@dataclass(frozen=True)
class Warmth:
    """A zygote with these modules, on this interpreter."""

    python: Path
    modules: tuple[str, ...]
    path: tuple[str, ...]
    """Where packages are found besides those of the environment."""
    environ: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Of its socket, lock and file, without their endings."""
        words = json.dumps([str(self.python), self.modules, self.path, self.environ])
        return PREFIX + hashlib.sha256(words.encode()).hexdigest()[:12]


def warmth_of(suite: Suite, environment: Environment, order: Mapping[str, Any]) -> Warmth | None:
    """What a container needs to start warm; None: it starts as any other."""
    argv = list(order.get("argv") or ())
    if argv[1:2] != ["-m"] or len(argv) < 3 or argv[0] not in PROGRAMS or argv[2] not in suite.says.warm:
        return None
    packages = tuple(p for p in environment.variables.get("PYTHONPATH", "").split(":") if p)
    if suite.code is not None:
        packages = (*packages, str(suite.code))
    said = {k: v for k, v in suite.says.env.items() if k != "PATH"}
    return Warmth(environment.bin / "python", tuple(suite.says.warm), packages, tuple(sorted(said.items())))


def write(warmth: Warmth, run: Path) -> None:
    """Lay the file into the folder of sockets."""
    new = run / f"{warmth.name}.json.new"
    new.write_text(json.dumps({"modules": warmth.modules, "path": warmth.path}), encoding="utf-8")
    new.replace(run / f"{warmth.name}.json")
