"""What all pods of a node process share, and the preparation of a pod with it.

Preparing is looking for everything a pod needs: its volumes, the suites of its images, their environments.
It is repeated until it succeeds; whatever is missing is an `Obstacle`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...api.core import ConfigMap, Pod
from ...settings import Home
from . import suites, volumes
from .environments import Environment, Environments, Progress
from .events import Recorder
from .launcher import Launcher
from .machine import HOST_ADDRESS, Machine
from .orders import Ground, order_of
from .podfolder import PodFolder
from .suites import Suite
from .upstream import Upstream
from .variables import Facts, Reference, decoded, inherited, references


@dataclass(frozen=True)
class Workshop:
    home: Home
    upstream: Upstream
    recorder: Recorder
    launcher: Launcher
    environments: Environments
    machine: Machine
    suite_folders: tuple[Path, ...]
    api: tuple[str, str]
    """Host and port of the API server, for the containers."""
    now: Callable[[], float]


@dataclass(frozen=True)
class Preparation:
    """Everything the containers of one pod stand on."""

    volumes: Mapping[str, Path]
    images: Mapping[str, tuple[Suite, Environment]]


async def prepare(pod: Pod, folder: PodFolder, shop: Workshop, progress: Progress) -> Preparation:
    """Raises an `Obstacle` for the first thing that is missing."""
    found = await volumes.prepare(pod, volumes.Place(folder.volumes, shop.home.volumes), shop.upstream)
    containers = (*(pod.spec.get("initContainers") or ()), *pod.spec["containers"])
    images: dict[str, tuple[Suite, Environment]] = {}
    for container in containers:
        volumes.mounts(container, found)
        image = container.get("image") or ""
        if image not in images:
            suite = suites.resolve(image, shop.suite_folders)
            if not shop.environments.present(suite):
                message = f"Making the environment of suite {suite.name} for image {image!r}"
                await shop.recorder.tell(pod, "Pulling", message, container["name"])
            images[image] = suite, await shop.environments.ensure(suite, progress)
    return Preparation(found, images)


async def describe(
    pod: Pod, container: Mapping[str, Any], run_folder: Path, prepared: Preparation, shop: Workshop
) -> dict[str, Any]:
    """What run.json is to say; raises an `Obstacle` when a variable refers to what is not there."""
    folder = PodFolder(run_folder.parents[2])
    record = folder.record()
    suite, environment = prepared.images[container.get("image") or ""]
    ground = Ground(
        suite, environment, run_folder, folder.home, prepared.volumes, inherited(os.environ), shop.api
    )
    data = {reference: await texts(pod, reference, shop) for reference in references(container)}
    facts = Facts(record.address if record else "", HOST_ADDRESS, data, shop.machine.capacity)
    order = order_of(pod, container, ground, facts)
    if suite.code:
        await asyncio.to_thread(copy_code, suite.code, ground.code)
    return order


async def texts(pod: Pod, reference: Reference, shop: Workshop) -> dict[str, str] | None:
    found = await shop.upstream.find(reference.kind, pod.namespace, reference.name)
    if found is None:
        return None
    if isinstance(found, ConfigMap):
        return dict(found.data)
    return {key: value.decode(errors="replace") for key, value in decoded(found.name, found.data).items()}


def copy_code(source: Path, target: Path) -> None:
    """A fresh copy; what an interrupted one left is overwritten."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
