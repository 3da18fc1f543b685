"""A user of the machine who is not root, with a checkout and an environment of his own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.scenarios.pdc_home import variables

ROOT = Path(__file__).parent.parent
TAKEN_ALONG = (
    "src", "tests", "suites", "deploy", "requirements", "tools", "docs", "examples", "benchmarks",
    "pyproject.toml", "Makefile", "README.md", "README.zh-CN.md",
)  # fmt: skip
INTERPRETERS = ("/usr/bin/python3.11", "/usr/bin/python3.12", "/usr/local/bin/python3.11")


class NotHere(Exception):
    """This machine cannot have such a user, or not with PaddleCloud; the text says why."""


@dataclass(frozen=True)
class User:
    uid: int
    folder: Path
    """His own, empty at first."""

    @property
    def rights(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.uid, "extra_groups": []}

    @property
    def environ(self) -> dict[str, str]:
        # What is downloaded once is kept for the next run, as it would be in a home.
        kept = Path(tempfile.gettempdir()) / f"paddlecloud-test-environments-{self.uid}"
        environ = {k: v for k, v in variables().items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return {
            **environ,
            "HOME": str(self.folder),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(self.folder),
            "UV_CACHE_DIR": str(kept / "downloads"),
            "PADDLECLOUD_ENVIRONMENTS": str(kept),
        }

    def can_run(self, *command: str) -> bool:
        try:
            done = subprocess.run(command, cwd="/", env=self.environ, capture_output=True, **self.rights)
        except OSError:
            return False
        return done.returncode == 0

    def check_out(self) -> Path:
        """`make develop` in a copy of the tree, all of it this user's; raises `NotHere`."""
        python = next((p for p in INTERPRETERS if self.can_run(p, "-c", "pass")), None)
        if python is None:
            raise NotHere(f"user {self.uid} may not execute any of {', '.join(INTERPRETERS)}")
        checkout = self.folder / "checkout"
        checkout.mkdir()
        for name in TAKEN_ALONG:
            take_along(ROOT / name, checkout / name)
        give(self.folder, self.uid)
        made = subprocess.run(
            ["sh", "tools/environment.sh", "dev"],
            cwd=checkout,
            env={**self.environ, "PYTHON": python},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **self.rights,
        )
        if made.returncode:
            raise NotHere(f"user {self.uid} cannot install PaddleCloud here:\n{made.stdout[-1500:]}")
        return checkout


@contextmanager
def ordinary_user() -> Iterator[User]:
    """A uid nobody has; raises `NotHere` where this is not root, who alone can become somebody else."""
    if os.getuid() != 0:
        raise NotHere("this is an ordinary user already")
    known = {entry.pw_uid for entry in pwd.getpwall()}
    uid = next(n for n in range(60000, 65000) if n not in known)
    kept = Path(tempfile.gettempdir()) / f"paddlecloud-test-environments-{uid}"
    kept.mkdir(exist_ok=True, mode=0o700)
    os.chown(kept, uid, uid)
    # Not pytest's own folder, which is closed to others.
    with tempfile.TemporaryDirectory(prefix="pdc-user-") as folder:
        os.chown(folder, uid, uid)
        yield User(uid, Path(folder))


def take_along(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def give(folder: Path, uid: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, uid, uid, follow_symlinks=False)
