"""Images of suites for a real node: what `pdc image build` makes of the folder that we run as it is.

Each is kept in the user's cache with `source`, the digest of what it was made from, written last. Its name is
the one that the manifest of its job asks for; images with our own programs in them are called as suites are.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.kubernetes.build_go import GIGABYTE, CannotBuild, check_disk, locked
from tests.scenarios.pdc_home import variables

ROOT = Path(__file__).parent.parent.parent
LIMIT = 1200.0
"""Seconds; a minute and a half where the packages of the suite are there."""


@dataclass(frozen=True)
class SuiteImage:
    suite: str
    job: Path | None = None
    """The manifest that is run with it; without one it holds our own programs."""
    needed: int = 3 * GIGABYTE

    @property
    def name(self) -> str:
        return f"the image of {self.suite}"

    @property
    def version(self) -> str:
        return f"for Python {platform.python_version()}"

    def manifest(self) -> dict[str, Any]:
        assert self.job is not None
        found: dict[str, Any] = yaml.safe_load(self.job.read_text(encoding="utf-8"))
        return found

    def image(self) -> str:
        if self.job is None:
            return f"paddlecloud/{self.suite}"
        roles = (role for role in self.manifest()["spec"].values() if isinstance(role, dict))
        containers = [c for role in roles for c in role["template"]["spec"]["containers"]]
        [image] = {str(container["image"]) for container in containers}
        return image

    def folder(self) -> Path:
        root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(root).expanduser() / "paddlecloud" / "suite-images" / self.suite

    def built(self) -> Path | None:
        stamp = self.folder() / "source"
        fresh = stamp.is_file() and stamp.read_text() == self.digest()
        return self.folder() / "image.tar" if fresh else None

    def aged(self) -> bool:
        """Whether it was built once, from another tree."""
        return (self.folder() / "image.tar").is_file() and self.built() is None

    def build(self) -> Path:
        if found := self.built():
            return found
        folder = self.folder()
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            return self.built() or self._build_in(folder)

    def digest(self) -> str:
        ours = ROOT / "src" / "paddlecloud"
        places = (ROOT / "suites" / self.suite, ours if self.job is None else ours / "images")
        files = sorted(path for place in places for path in place.rglob("*") if is_source(path))
        parts = [path.read_bytes() for path in (*files, self.lock())]
        return hashlib.sha256(b"\0".join([*parts, sys.version.encode(), self.image().encode()])).hexdigest()

    def lock(self) -> Path:
        """What its packages are; another suite's lock makes no other image."""
        suite = ROOT / "suites" / self.suite
        named = yaml.safe_load((suite / "suite.yaml").read_text(encoding="utf-8")).get("requirements")
        return suite / named if named else ROOT / "requirements" / "core.lock"

    def _build_in(self, folder: Path) -> Path:
        check_disk([folder], self.needed, self.name)
        print(f"building {self.name}: about two minutes, and its packages if they are not there", flush=True)
        (folder / "source").unlink(missing_ok=True)
        archive = folder / "image.tar"
        # Taken before: what is edited meanwhile may not be in it.
        source = self.digest()
        with tempfile.TemporaryDirectory(prefix="pdc-images-") as home:
            program = [sys.executable, "-m", "paddlecloud.cli.main", "--home", home]
            command = [*program, "image", "build", self.suite, "--name", self.image(), "-o", str(archive)]
            done = subprocess.run(command, env=variables(), capture_output=True, text=True, timeout=LIMIT)
        if done.returncode:
            raise CannotBuild(f"{self.name} was not built: {done.stderr.strip()[-500:]}")
        (folder / "source").write_text(source)
        return archive


def is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


EXAMPLES = ROOT / "deploy" / "examples"
WIDE_AND_DEEP = SuiteImage("wide-and-deep", EXAMPLES / "wide_and_deep.yaml")
RESNET = SuiteImage("resnet", EXAMPLES / "resnet.yaml")
CORE, DATA = (SuiteImage(suite, needed=GIGABYTE) for suite in ("core", "data"))
