"""Runs tests with fewer rights: as an ordinary user, and confined.

    python -m tests.levels [user] [confined] [--all] [PYTEST ARGUMENT…]

Without arguments those that depend on rights the most; `--all` are those of `make test`, with a list of what
was skipped. What a level cannot do its tests skip in words. A level this machine cannot have is left out with
its reason; one that fails makes the whole fail, after the others have run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.node import confinement
from tests.ordinary_user import NotHere, ordinary_user

ROOT = Path(__file__).parent.parent
CHOSEN = ("tests/node", "tests/embedded", "tests/images", "tests/scenarios/test_walk.py",
          "tests/scenarios/test_up_and_down.py")  # fmt: skip
ALL, WHOLE = "--all", ("-m", "not long", "-rs")
BRIEF = ("-m", "not long or walk")
"""Of what takes long, the walk alone: it goes through everything."""
SPREAD = ("--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile", "--no-loadscope-reorder")


def main(words: list[str]) -> int:
    asked = [word for word in words if word in LEVELS] or list(LEVELS)
    given = [word for word in words if word not in (*LEVELS, ALL)]
    arguments = given or [*BRIEF, *CHOSEN]
    if ALL in words:
        arguments = [*WHOLE, *(given or ["tests"])]
    return max([tried(level, [*SPREAD, *arguments]) for level in asked])


def tried(level: str, arguments: list[str]) -> int:
    title, run = LEVELS[level]
    print(f"the tests {title}", flush=True)
    try:
        return run(arguments)
    except NotHere as reason:
        print(f"  left out: {reason}", flush=True)
        return 0


def as_ordinary_user(arguments: list[str]) -> int:
    with ordinary_user() as user:
        checkout = user.check_out()
        # A short folder: the name of a socket has room for about a hundred letters.
        base = f"--basetemp={user.folder / 't'}"
        command = [str(checkout / ".venv" / "bin" / "python"), "-m", "tests.again", base, *arguments]
        return subprocess.run(command, cwd=checkout, env=user.environ, **user.rights).returncode


def in_confinement(arguments: list[str]) -> int:
    inside = [sys.executable, confinement.__file__]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        raise NotHere("this machine lets nobody confine a process")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*inside, sys.executable, "-m", "tests.again", *arguments], cwd=ROOT, env=environ
    ).returncode


LEVELS: dict[str, tuple[str, Callable[[list[str]], int]]] = {
    "user": ("as an ordinary user", as_ordinary_user),
    "confined": ("as a container without privilege", in_confinement),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
