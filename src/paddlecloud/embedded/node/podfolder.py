"""The folder of one pod: who it is, its address, its volumes, the runs of its containers.

    pod.json                       identity, address, names of the containers
    home/  volumes/                what the containers write
    containers/NAME/N/             run N of a container, kept by its shim

All a node knows about a pod besides the API is here, so that a new node process knows it too.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ...api.core import Pod
from ...settings import Home
from . import attempts
from .attempts import Attempt

KEPT_RUNS = 2
"""The present run and the one before, for `logs --previous`."""


@dataclass(frozen=True)
class Record:
    """What must be known of a pod when the API has forgotten it."""

    uid: str
    namespace: str
    name: str
    node: str
    address: str
    init_containers: tuple[str, ...]
    containers: tuple[str, ...]
    visitors: tuple[str, ...] = ()
    """Ephemeral containers that have come since."""
    owner: str = ""
    """Who controls it, as `PaddleJob/resnet`."""

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.init_containers, *self.containers, *self.visitors)

    def pod(self) -> Pod:
        """The pod, as far as it is needed to stop it."""
        return Pod.read(
            {
                "metadata": {"uid": self.uid, "namespace": self.namespace, "name": self.name},
                "spec": {
                    "nodeName": self.node,
                    "initContainers": [{"name": name} for name in self.init_containers],
                    "containers": [{"name": name} for name in self.containers],
                    "ephemeralContainers": [{"name": name} for name in self.visitors],
                },
            }
        )


def record_of(pod: Pod, address: str) -> Record:
    init = tuple(c["name"] for c in pod.spec.get("initContainers") or ())
    main = tuple(c["name"] for c in pod.spec["containers"])
    owner = next((f"{o.kind}/{o.name}" for o in pod.metadata.owner_references if o.controller), "")
    return Record(pod.uid, pod.namespace, pod.name, pod.node, address, init, main, owner=owner)


class PodFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def volumes(self) -> Path:
        return self.path / "volumes"

    def run_folder(self, container: str, number: int) -> Path:
        return self.path / "containers" / container / str(number)

    def record(self) -> Record | None:
        """Who lives here; None for a folder that was not finished or is none of ours."""
        found = attempts.content(self.path / "pod.json")
        if not found:
            return None
        lists = {key: tuple(names) for key, names in found.items() if isinstance(names, list)}
        return Record(**{**found, **lists})

    def welcome(self, visitor: str) -> None:
        """Write down that somebody has come to look, before they are there."""
        record = self.record()
        if record is not None and visitor not in record.names:
            self.settle(replace(record, visitors=(*record.visitors, visitor)))

    def settle(self, record: Record) -> None:
        """Write down who lives here."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.note(record)

    def note(self, record: Record) -> None:
        """`pod.json` appears whole and readable by its owner only."""
        new = self.path / "pod.json.new"
        with os.fdopen(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            json.dump(asdict(record), file)
        new.rename(self.path / "pod.json")

    def attempts(self, container: str) -> tuple[Attempt, ...]:
        return attempts.of_container(self.path / "containers" / container)

    def forget_old_runs(self, container: str) -> None:
        for attempt in self.attempts(container)[:-KEPT_RUNS]:
            shutil.rmtree(self.run_folder(container, attempt.number), ignore_errors=True)

    def remove(self) -> None:
        # The record goes last: a removal that was cut short is taken up again.
        for path in (self.path / "containers", self.volumes, self.home):
            if path.exists():
                remove_tree(path)
        if self.path.exists():
            shutil.rmtree(self.path)


def remove_tree(path: Path) -> None:
    """Containers, and overlays too, leave folders without permissions behind; their owner may open them."""
    try:
        shutil.rmtree(path)
    except PermissionError:
        # From above: a folder has to be open before what is in it can be.
        path.chmod(0o700)
        for folder, names, _ in os.walk(path):
            for inner in (Path(folder, name) for name in names):
                if not inner.is_symlink():
                    inner.chmod(0o700)
        shutil.rmtree(path)


def every_pod(home: Home) -> list[PodFolder]:
    """The folders of all pods on all nodes of a home."""
    nodes = home.root / "nodes"
    found = sorted(nodes.iterdir()) if nodes.is_dir() else []
    return [folder for node in found for folder in all_folders(home.pods(node.name))]


def all_folders(pods: Path) -> Iterator[PodFolder]:
    """The pods that have a folder on one node."""
    if pods.is_dir():
        yield from (PodFolder(path) for path in sorted(pods.iterdir()) if path.is_dir())
