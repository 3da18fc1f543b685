"""What a file `templates/NAME.yaml` in the folder of a suite says, and where such files are found.

A template is data: parameters, how the suite draws a small data set, and what the training is told, with
`${parameter}` where a value goes and `${data}` for the folder of the data. A user's own suite brings
templates in the same way, and wins over a shipped one of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ConfigDict, Field, ValidationError

from ...api.meta import Value
from ...embedded.node.suites import Suite, all_suites, folders
from ...errors import NotFound, WrongUse
from ..components import training
from .parameters import NAME, Given, Parameter, chosen, common, near
from .planned import PLANNED, Planned

FOLDER = "templates"
PLACE = re.compile(r"\$\{(\w+)\}")
DATA = "data"
OURS = ("name", "namespace", "image", "dataset", "pvc_name", "action", "worker_replicas", "timeout")
"""Inputs of the training that follow from everything else."""


class Description(Value):
    """What the file says."""

    model_config = ConfigDict(extra="forbid")

    name: str
    domain: str
    description: str
    metric: str = ""
    """The name of the number by which its model is judged."""
    image: str = ""
    """Where it trains; empty: the first image of the suite."""
    samples: str = ""
    """What `make_data.py` of the suite is told, but for the folder; empty: it can draw none."""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    training: dict[str, str] = Field(default_factory=dict)
    """Inputs of the component `training`."""


@dataclass(frozen=True)
class Template:
    suite: str
    image: str
    says: Description
    file: Path

    @property
    def name(self) -> str:
        return self.says.name

    def parameters(self) -> dict[str, Parameter]:
        """Those of every template, with what this one says of them, and its own."""
        all_of_them = common(self.name)
        if not self.says.samples:
            all_of_them["data"] = all_of_them["data"].but(default=None, about="Address of the data.")
        return all_of_them | self.says.parameters

    def values(self, given: Mapping[str, object]) -> dict[str, Given]:
        """Raises `WrongUse`."""
        return chosen(self.name, self.parameters(), given)


def templates(roots: Iterable[Path] | None = None) -> dict[str, Template]:
    """Every template there is, by name. Raises `WrongUse` for a file that is none."""
    found: dict[str, Template] = {}
    for suite in all_suites(folders() if roots is None else roots):
        for file in sorted((suite.folder / FOLDER).glob("*.yaml")):
            template = read(file, suite)
            found.setdefault(template.name, template)
    return dict(sorted(found.items()))


def find(name: str, roots: Iterable[Path] | None = None) -> Template:
    """Raises `NotFound` with what comes near, or with what a planned one waits for."""
    known = templates(roots)
    if name in known:
        return known[name]
    planned = {p.name: p for p in PLANNED}
    if name in planned:
        raise NotFound(
            f"template {name} is planned and not there yet: {planned[name].suite} has no such task here",
            next_step=f"these are: {', '.join(known)}",
        )
    raise NotFound(
        f"there is no template {name}{near(name, [*known, *planned])}",
        next_step=f"these are: {', '.join(known)}",
    )


def planned_beside(known: Mapping[str, Template]) -> list[Planned]:
    """A suite may bring what is only planned here."""
    return [p for p in PLANNED if p.name not in known]


def read(file: Path, suite: Suite) -> Template:
    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
        says = Description.model_validate(said)
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise WrongUse(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise WrongUse(
            f"{file} is no template: {place + ': ' if place else ''}{first['msg']}",
            next_step="docs/templates.md describes the file",
        ) from error
    image = says.image or (suite.says.images[0] if suite.says.images else "")
    template = Template(suite.name, image, says, file)
    if problem := problem_of(template):
        raise WrongUse(f"{file}: {problem}", next_step="docs/templates.md describes the file")
    return template


def problem_of(template: Template) -> str:
    """What is wrong with a template that can be read; empty when nothing is."""
    says = template.says
    if not NAME.fullmatch(says.name) or says.name != template.file.stem:
        return f"name {says.name!r} is not the name of its file in small letters"
    if not template.image:
        return f"suite {template.suite} answers to no image to train in"
    for name in says.training:
        if name in OURS:
            return f"training.{name} is not for a template to say"
        if name not in training.COMPONENT.inputs:
            return f"training has no input {name!r}{near(name, training.COMPONENT.inputs)}"
    known = {*template.parameters(), DATA}
    for text in (*says.training.values(), says.samples):
        if unknown := [name for name in PLACE.findall(text) if name not in known]:
            return f"${{{unknown[0]}}} is no parameter of it{near(unknown[0], known)}"
    if PLACE.search(says.samples):
        # What is drawn is kept under its name: another number would be another data set of the same name.
        return "samples takes no parameters"
    return ""
