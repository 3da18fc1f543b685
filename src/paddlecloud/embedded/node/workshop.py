"""What all pods of a node process share, and the preparation of a pod with it.

Preparing is looking for everything a pod needs: its volumes, the suites of its images, their environments.
It is repeated until it succeeds; whatever is missing is an `Obstacle`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import mirroring
from ...api.core import ConfigMap, Pod
from ...controllers.mirrors import without_secrets
from ...errors import WrongUse
from ...settings import Home
from ..mirrorfile import mirrors_in
from . import holder, pulls, roles, volumes
from .attempts import content
from .environments import Environment, Environments, Progress
from .events import Recorder
from .launcher import Launcher
from .logarchive import LogArchive
from .machine import HOST_ADDRESS, Machine
from .network import podfiles
from .network.standing import Standing, files, told
from .obstacles import EnvironmentBroken, ImageUnknown, Obstacle
from .orders import Ground, lays_code, order_of
from .podfolder import PodFolder, Record
from .sandbox import cgroups, holding, plan, security
from .sandbox.levels import Levels
from .sandbox.links import Claim, Links
from .sandbox.network import Network, Shared
from .sandbox.plan import Site
from .sandbox.surroundings import PROGRAMS
from .sandbox.survey import group_bases
from .servicelinks import links
from .substitution import checked_mount_path
from .suites import Suite
from .upstream import Upstream
from .variables import Facts, Reference, decoded, inherited, left_out, references
from .volumes import emptydir, hostpath, memory
from .volumes.plugins import Plugins, take_back


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
    """Host and port of the API server, for containers on the machine's network."""
    now: Callable[[], float]
    levels: Levels = field(default_factory=Levels)
    network: Network = field(default_factory=Shared)
    links: Links | None = None
    """Where links on the machine may stand for mounts; None: nowhere."""
    memory: Path | None = None
    """A folder of this home in memory; see `volumes.memory`."""
    plugins: Plugins = field(default_factory=dict)
    """Drivers of volumes, by name."""
    inner_api: tuple[str, str] = ("", "")
    """The same for containers on a network of their own."""
    standing: Standing | None = None
    """What pods are told of the network; None: nothing."""
    archive: LogArchive | None = None
    """Where the logs of removed pods are kept; None: they go with them."""


@dataclass(frozen=True)
class Preparation:
    """Everything the containers of one pod stand on."""

    volumes: Mapping[str, Path]
    images: Mapping[str, tuple[Suite, Environment]]
    linked: frozenset[str] = frozenset()
    """Mount paths that lead to their volumes on the machine itself."""
    found: Mapping[str, pulls.Image] = field(default_factory=dict)
    """What the names of the images led to."""
    lacking: Mapping[str, Obstacle] = field(default_factory=dict)
    """Images that are not there yet, and why."""

    def covers(self, pod: Pod) -> bool:
        """Whether every image of the pod was looked for; visitors bring images of their own."""
        names = {str(container.get("image") or "") for container in roles.every(pod)}
        return names <= self.images.keys() | self.lacking.keys()


async def prepare(pod: Pod, folder: PodFolder, shop: Workshop, progress: Progress) -> Preparation:
    """Raises an `Obstacle` for the first thing that all containers miss; images are missed by some only."""
    # Nothing of the one is needed for the other, and both wait for other processes.
    found, held = await asyncio.gather(
        volumes.prepare(pod, place_of(pod, shop), shop.upstream),
        hold(pod, folder, shop),
        return_exceptions=True,
    )
    if isinstance(found, BaseException):
        raise found
    if isinstance(held, BaseException):
        raise held
    containers = roles.every(pod)
    images: dict[str, tuple[Suite, Environment]] = {}
    obtained: dict[str, pulls.Image] = {}
    lacking: dict[str, Obstacle] = {}
    for container in containers:
        volumes.mounts(container, found)
        image = container.get("image") or ""
        if image not in images and image not in lacking:
            try:
                obtained[image] = await pulls.obtain(pod, container, shop, progress)
                needs_layers(obtained[image], shop.levels)
                images[image] = await pulls.ground(pod, container, obtained[image], shop, progress)
            except (ImageUnknown, EnvironmentBroken) as missing:
                missing.image = image
                lacking[image] = missing
        lacks = volumes.lacks(pod, container, place_of(pod, shop))
        for lack in (*security.lacks(pod, container, shop.levels), *lacks):
            message = f"container {container['name']} asks for what this node cannot give: {lack}"
            await shop.recorder.warn(pod, "IsolationLacking", message, container["name"])
    return Preparation(found, images, await linked(pod, found, shop), obtained, lacking)


def needs_layers(image: pulls.Image, levels: Levels) -> None:
    """Raises `ImageUnknown` for files of an image that this node cannot put in front of a process."""
    if image.layers and levels.filesystem == "plain":
        raise ImageUnknown(
            f"image {image.name} brings files of its own, and pods are plain processes here",
            next_step="run as root or allow user namespaces (`pdc status`), or use a suite (`pdc image ls`)",
        )


def place_of(pod: Pod, shop: Workshop) -> volumes.Place:
    """Where the volumes of *pod* are."""
    return volumes.Place(
        PodFolder(shop.home.pods(pod.node) / pod.uid).volumes,
        shop.home.volumes,
        memory=memory.place_of(shop.memory, pod.uid),
        # A sandbox hides the paths; without one they are closed by their modes alone.
        closed=shop.levels.filesystem == "plain",
        machine=shop.machine.room,
        plugins=shop.plugins,
        disk=shop.home.disk(pod.node),
        now=shop.now(),
    )


async def linked(pod: Pod, found: Mapping[str, Path], shop: Workshop) -> frozenset[str]:
    """The mount paths of *pod* that are links now; for plain processes only."""
    if shop.links is None or shop.levels.filesystem != "plain":
        return frozenset()
    result = set()
    for container in roles.every(pod):
        # Where these lead is known only with the variables of the container.
        later = {
            checked_mount_path(m["mountPath"])
            for m in container.get("volumeMounts") or ()
            if m.get("subPathExpr")
        }
        for path, real in volumes.mounts(container, found).items():
            # Every pod has its own there, and a variable that says where.
            if path == volumes.ACCESS_PATH or path in later:
                continue
            claim = shop.links.claim(pod.uid, path, real)
            if claim == Claim.LINKED:
                result.add(path)
            elif claim == Claim.TAKEN:
                message = (
                    f"{path} is a link to a volume of another pod: in container {container['name']} the path "
                    "is replaced in command, arguments and variables only; run as root for mounts of its own"
                )
                await shop.recorder.warn(pod, "MountPathTaken", message, container["name"])
    return frozenset(result)


async def hold(pod: Pod, folder: PodFolder, shop: Workshop) -> None:
    """See that the pod's holder is there and connected, where pods have namespaces."""
    if shop.levels.filesystem == "plain":
        return
    record = folder.record()
    address = record.address if record else ""
    if shop.standing is not None:
        podfiles.write(folder.path, files(pod, address, shop.standing))
    namespaces = holding.namespaces_of(pod, shop.network.separate)
    if holding.pid_of(folder.path):
        if "net" in namespaces:
            await shop.network.attach(folder.path, address)
        return
    in_memory = emptydir.in_memory(pod, place_of(pod, shop))
    holding.wish(pod, folder.path, namespaces, shop.network.wish(address), in_memory)
    await shop.launcher.hold(folder.path)
    if "net" in namespaces:
        shop.network.made(address)


async def leave(folder: PodFolder, shop: Workshop) -> None:
    """Take back what a pod without containers holds besides its folder; often repeated."""
    record = folder.record()
    if record is not None:
        await shop.network.detach(record.address)
    await asyncio.to_thread(holding.end, folder.path)
    if record is not None:
        if shop.links is not None:
            shop.links.release(record.uid)
        await take_back(folder.path, record.uid, shop.plugins)
        hostpath.tidy(folder.path, shop.home.disk(record.node))
        await asyncio.to_thread(memory.forget, shop.memory, record.uid)
        groups = plan.pod_groups(record.uid, group_bases(shop.levels, shop.home))
        await asyncio.to_thread(cgroups.remove, groups)


async def describe(
    pod: Pod, container: Mapping[str, Any], run_folder: Path, prepared: Preparation, shop: Workshop
) -> dict[str, Any]:
    """What run.json is to say; raises an `Obstacle` when a variable refers to what is not there."""
    folder = PodFolder(run_folder.parents[2])
    record = folder.record()
    suite, environment = prepared.images[container.get("image") or ""]
    site = site_of(folder, environment, prepared, shop)
    if site is not None and (layers := pulls.layers_of(prepared.found, container)):
        # An image has its own programs: nothing of the machine's is laid over them.
        site = replace(site, layers=layers, shown=())
    ground = Ground(
        suite, environment, run_folder, folder.home, prepared.volumes,
        {**inherited(os.environ), **downloads(shop)},
        shop.inner_api if site is not None and "net" in site.shared else shop.api,
        site=site, limits=shop.levels.limits,
        groups=group_bases(shop.levels, shop.home), linked=prepared.linked,
    )  # fmt: skip
    data = {reference: await texts(pod, reference, shop) for reference in references(container)}
    linked = pod.spec.get("enableServiceLinks", True)
    services = await shop.upstream.services(pod.namespace) if linked else []
    facts = Facts(address_of(pod, record), HOST_ADDRESS, data, shop.machine.room, links(services))
    for sentence in left_out(container, pod, facts):
        await shop.recorder.warn(pod, "InvalidEnvironmentVariableNames", sentence, container["name"])
    order = order_of(pod, container, ground, facts)
    if suite.code and not lays_code(ground):
        await asyncio.to_thread(copy_code, suite.code, ground.code)
    if ground.site is not None:
        await hold(pod, folder, shop)
        make_termination_file(run_folder)
    return told(order, pod, facts.pod_ip, shop.standing) if shop.standing else order


def downloads(shop: Workshop) -> dict[str, str]:
    """The mirrors of downloads; a table that cannot be understood is told of elsewhere."""
    with contextlib.suppress(WrongUse):
        return mirroring.told(without_secrets(mirrors_in(shop.home.mirrors)))
    return {}


def address_of(pod: Pod, record: Record | None) -> str:
    """Where a pod is reached: its own address, or that of its node if it shares it; empty without one."""
    if record is None or not record.address:
        return ""
    return HOST_ADDRESS if pod.spec.get("hostNetwork") else record.address


def site_of(
    folder: PodFolder, environment: Environment, prepared: Preparation, shop: Workshop
) -> Site | None:
    if shop.levels.filesystem == "plain":
        return None
    wish = content(folder.path / holder.WISH)
    return Site(
        levels=shop.levels,
        platform=shop.home.root,
        pod_folder=folder.path,
        shown=shown(environment),
        shared=tuple(wish.get("namespaces", ())),
        files=tuple(name for name in plan.FILES if (folder.path / "etc" / name).exists()),
        volumes=prepared.volumes,
    )


def shown(environment: Environment) -> tuple[str, ...]:
    """Where the programs of an environment lie, links followed: a container must see all of it."""
    folders = {environment.bin.parent, Path(sys.prefix), Path(sys.base_prefix)}
    packages = environment.variables.get("PYTHONPATH", "").split(":")
    for package in (Path(text) for text in packages if text):
        folders |= {package, *(path.resolve() for path in package.iterdir())}
    every = {str(path) for folder in folders for path in (folder, folder.resolve())}
    return tuple(plan.outside(sorted(every), PROGRAMS))


def make_termination_file(run_folder: Path) -> None:
    """The file that a container of any user may write its last words to."""
    run_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = run_folder / "termination"
    path.touch()
    path.chmod(0o666)


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
