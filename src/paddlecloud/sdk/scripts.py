"""A script on this machine as the code of a training: its files, the name of the job, the image."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypedDict, Unpack

from ..errors import WrongUse
from ..settings import shipped
from .training import IMAGE, Training

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
FILE_NAME = re.compile(r"[-._a-zA-Z0-9]+")
PS_SUITE, PS_IMAGE = "wide-and-deep", "paddlecloud/wide-and-deep"
"""Whose Paddle still has parameter servers."""


class ScriptOptions(TypedDict, total=False):
    name: str
    """Of the job; else that of the script and a few letters."""
    namespace: str
    workers: int
    ps: int
    image: str
    data: str
    """A SampleSet."""
    data_path: str
    env: Mapping[str, str]
    files: Iterable[str | Path]
    """Modules the script imports, put beside it."""


def training_of(
    script: str | Path,
    arguments: Iterable[str] = (),
    letters: Callable[[], str] = lambda: "".join(secrets.choice(LETTERS) for _ in range(5)),
    **options: Unpack[ScriptOptions],
) -> Training:
    """The training that runs *script* with *arguments*; raises `WrongUse` for files that cannot be sent."""
    path, servers = Path(script), options.get("ps", 0)
    return Training(
        name=options.get("name") or f"{word(path.stem)}-{letters()}",
        script=path.name,
        files={file.name: content(file) for file in (path, *map(Path, options.get("files", ())))},
        arguments=tuple(arguments),
        namespace=options.get("namespace", "default"),
        workers=options.get("workers", 1),
        ps=servers,
        image=options.get("image") or image_for(servers),
        data=options.get("data", ""),
        data_path=options.get("data_path", "/data"),
        env=options.get("env", {}),
    )


def image_for(servers: int) -> str:
    """Where Python and Paddle come from when nobody says."""
    return PS_IMAGE if servers and (shipped("suites") / PS_SUITE).is_dir() else IMAGE


def content(path: Path) -> str:
    if not FILE_NAME.fullmatch(path.name):
        raise WrongUse(
            f"a file of code cannot be called {path.name!r}", next_step="use letters, digits, . _ -"
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} cannot be read as text: {error}") from error


def word(stem: str) -> str:
    """As much of a file's name as an object may be called."""
    made = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40].strip("-")
    return made if made[:1].isalpha() else f"job-{made}".strip("-")
