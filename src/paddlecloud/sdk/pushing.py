"""Bring a folder into the hub as a new version, and a version into a folder.

Files go up by content, then their list, then the ModelVersion: cut off anywhere, nobody sees a version, and
the same push again goes on where it was. The cluster verifies the files again before a version is Ready.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..api.meta import Key
from ..api.model import ModelPhase, ModelSource, ModelVersion
from ..controllers.modelpods import PUSHED
from ..errors import Failed, WrongUse
from ..models.fetch import fetch
from ..models.manifest import Manifest
from ..models.objects import Moved
from ..models.upload import Step, push
from .client import Client
from .hub import About, add_version, checked_name, next_version, refuse_taken, versions
from .modelformats import Described, model_in
from .modelstore import opened
from .waiting import wait_for


class Pushed(NamedTuple):
    version: ModelVersion
    described: Described


def described_push(folder: Path, model: Key, about: About) -> tuple[Described, About]:
    """What a push would be, known before anything is sent. Raises `WrongUse`."""
    checked_name(model.name, "a model")
    found = model_in(folder)
    return found, About(about.version, found.format, about.lineage, about.metrics)


def push_folder(
    client: Client, folder: Path, model: Key, about: About, tell: Callable[[Step], None] = lambda _: None
) -> Pushed:
    """A new version of *model* with the files of *folder*; it is Ready when the cluster has verified them."""
    found, about = described_push(folder, model, about)
    store = opened(client, model.namespace)
    source = ModelSource(uri=PUSHED + push(folder, store, tell))
    return Pushed(add_version(client, model, source, about), found)


def foreseen(client: Client, folder: Path, model: Key, about: About) -> ModelVersion:
    """The version a push would make now; nothing is sent."""
    _, about = described_push(folder, model, about)
    there = versions(client, model)
    refuse_taken(there, about.version)
    return next_version(model, there, ModelSource(uri=f"{PUSHED}…"), about)


def ready(
    client: Client, version: ModelVersion, timeout: float, tell: Callable[[ModelVersion], None] | None = None
) -> ModelVersion:
    """The version once it is Ready. Raises `Failed` with the reason when it never will be."""
    ended = wait_for(client, ModelVersion, version.key, lambda v: v.status.phase.final, timeout, tell)
    if ended.status.phase is ModelPhase.FAILED:
        why = next((c.message for c in ended.status.conditions if c.message), "no reason was given")
        raise Failed(
            f"ModelVersion {ended.key} could not be stored: {why}",
            next_step=f"pdc why modelversion/{ended.name} -n {ended.namespace}",
        )
    return ended


def pull_version(
    client: Client, version: ModelVersion, to: Path, *, form: str = "", moved: Moved = lambda _: None
) -> Manifest:
    """The files of a version in *to*, each verified; with *form* those of a conversion instead."""
    if version.status.phase is not ModelPhase.READY:
        raise Failed(
            f"{version.name} is {version.status.phase.value}: it has no files yet",
            next_step=f"wait for it: pdc wait modelversion/{version.name} --for Ready",
        )
    if to.exists() and not to.is_dir():
        raise WrongUse(f"{to} is a file", next_step="name a folder")
    name = version.name
    if form and form != version.spec.format:
        made = {c.format for c in version.status.conversions if c.files}
        if form not in made:
            raise WrongUse(
                f"{version.name} is not there as {form}; it is there as "
                f"{', '.join(sorted({version.spec.format, *made}))}",
                next_step=f"pdc model convert {version.spec.model}@{version.name} --to {form}",
            )
        name = f"{version.name}.{form}"
    store = opened(client, version.namespace, version.status.storage)
    return fetch(store, version.spec.model, name, to, linked=False, moved=moved)
