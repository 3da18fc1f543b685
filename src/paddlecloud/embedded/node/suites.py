"""Suites: the folders that image names stand for.

A suite answers to the names in its `images`, whatever the tag or digest of the request; a registry host is
part of a name. A folder of the user's wins over a shipped one.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ConfigDict, Field, ValidationError

from ...api.meta import Value
from ...errors import WrongUse
from ...settings import shipped, value
from .obstacles import ImageUnknown

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times as fast, and the first pod of a cluster waits for all descriptions."""


class Description(Value):
    """What `suite.yaml` says."""

    model_config = ConfigDict(extra="forbid")

    name: str
    images: list[str]
    """Names it answers to, without tag."""
    description: str = ""
    python: Literal["environment", "self"] = "environment"
    """environment: own locked requirements; self: the interpreter PaddleCloud runs on."""
    requirements: str = ""
    """File with exact versions and hashes."""
    paddlecloud: bool = False
    """The paddlecloud package is importable."""
    code: str = ""
    """Folder laid at `at`, and the working directory."""
    at: str = "/workspace"
    entrypoint: list[str] = Field(default_factory=list)
    """When the pod gives no command."""
    cmd: list[str] = Field(default_factory=list)
    """What follows the entry point when the pod gives neither command nor args."""
    env: dict[str, str] = Field(default_factory=dict)
    warm: list[str] = Field(default_factory=list)
    """Modules that a process has imported already when a container begins that runs one of them."""


@dataclass(frozen=True)
class Suite:
    folder: Path
    says: Description

    @property
    def name(self) -> str:
        return self.says.name

    @property
    def code(self) -> Path | None:
        return self.folder / self.says.code if self.says.code else None

    def lock(self) -> str:
        """The text of the locked requirements; empty when it needs none."""
        if not self.says.requirements:
            return ""
        path = self.folder / self.says.requirements
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise WrongUse(f"suite {self.name}: cannot read {path}: {error.strerror}") from error


def folders(setting: str | None = None) -> list[Path]:
    """Where suites are looked for, the user's folders first."""
    own = value("suites") if setting is None else setting
    return [*(Path(part).expanduser() for part in own.split(":") if part), shipped("suites")]


def resolve(image: str, roots: Iterable[Path]) -> Suite:
    """The suite that answers to *image*; raises `ImageUnknown` with what comes near."""
    wanted = without_tag(image)
    known: dict[str, Suite] = {}
    for suite in all_suites(roots):
        for name in suite.says.images:
            known.setdefault(without_tag(name), suite)
    if wanted in known:
        return known[wanted]
    raise unknown(image, wanted, sorted(known))


def all_suites(roots: Iterable[Path]) -> list[Suite]:
    return [read(path.parent) for root in roots for path in sorted(root.glob("*/suite.yaml"))]


def read(folder: Path) -> Suite:
    path = folder / "suite.yaml"
    try:
        seen = path.stat()
        return Suite(folder, description(path, (seen.st_mtime_ns, seen.st_ino, seen.st_size)))
    except (yaml.YAMLError, ValidationError, OSError) as error:
        raise WrongUse(f"{path} is not a suite description: {error}") from error


@functools.lru_cache(maxsize=256)
def description(path: Path, version: tuple[int, ...]) -> Description:
    """What the file says; read once for each *version* of it, because every start of a container asks."""
    return Description.model_validate(yaml.load(path.read_text(encoding="utf-8"), LOADER))


def without_tag(image: str) -> str:
    """The name alone; the colon of a registry's port is not the one of a tag."""
    name = image.partition("@")[0]
    path, slash, last = name.rpartition("/")
    return path + slash + last.partition(":")[0]


def unknown(image: str, wanted: str, known: Sequence[str]) -> ImageUnknown:
    near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    # A foreign registry in front of a name we do have is the commonest near miss.
    last = wanted.rpartition("/")[2]
    near += [name for name in known if name.rpartition("/")[2] == last and name not in near]
    closest = f"; closest: {', '.join(near)}" if near else ""
    exist = f"these exist: {', '.join(known)}" if known else "there are no suites at all"
    return ImageUnknown(
        f"no suite answers to image {image}{closest}",
        next_step=f"{exist}; `pdc image ls` shows them, PADDLECLOUD_SUITES adds folders of your own",
    )
