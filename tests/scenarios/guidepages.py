"""Plays a page of the documentation: its files are written down, then its commands typed in their order.

A block of `bash` is typed.  A block of any other language is a file whose first line is a comment with
its name (`# words.yaml`).  A block without a language is only read.  The shell ends at the first command
that fails, so that a page can only pass as a whole; what a command prints is for the test to look at.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.scenarios.pdc_home import PdcHome

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"# ([\w.-]+)\n")
PROGRAMS = {"pdc": "-m paddlecloud.cli.main", "python": ""}


@dataclass(frozen=True)
class Page:
    files: dict[str, str]
    script: str


def page_of(markdown: str) -> Page:
    """The files and the commands of a page; a file without a name is an error of the page."""
    files, commands = {}, []
    for language, text in BLOCK.findall(markdown):
        if language == "bash":
            commands.append(text)
            continue
        name = NAME.match(text)
        assert name, f"a block of {language} that is no file: {text[:80]}"
        assert name[1] not in files, f"two files of the name {name[1]}"
        files[name[1]] = text
    return Page(files, "\n".join(commands))


def play(page: Path, cluster: PdcHome, folder: Path, *, limit: float = 600) -> str:
    """What a terminal shows when *page* is followed in *folder*; a command that fails ends the test."""
    guide = page_of(page.read_text())
    assert guide.script, f"{page.name} has no command"
    for name, text in guide.files.items():
        (folder / name).write_text(text)
    environ = {
        **cluster.environ,
        "PATH": f"{programs(folder / 'bin')}:{cluster.environ['PATH']}",
        "PADDLECLOUD_HOME": str(cluster.home),
    }
    done = subprocess.run(
        ["bash", "-c", f"set -eux\n{guide.script}"],
        cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit,
    )  # fmt: skip
    assert done.returncode == 0, f"{page.name} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def programs(folder: Path) -> Path:
    """A folder for the path with the programs a page names, of the environment of the tests."""
    folder.mkdir()
    for name, words in PROGRAMS.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        program.chmod(0o755)
    return folder
