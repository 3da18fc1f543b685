"""A node without a cluster: the API is a dictionary, everything below it is real."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from paddlecloud.api.core import Event, Pod, Service
from paddlecloud.api.meta import Key, Resource
from paddlecloud.embedded.node import attempts, workshop
from paddlecloud.embedded.node.closing import running_runs
from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.events import Recorder
from paddlecloud.embedded.node.launcher import Launcher
from paddlecloud.embedded.node.logarchive import LogArchive
from paddlecloud.embedded.node.machine import Machine
from paddlecloud.embedded.node.podfolder import every_pod
from paddlecloud.embedded.node.roster import Roster
from paddlecloud.embedded.node.sandbox import cgroups, homespace
from paddlecloud.embedded.node.sandbox.levels import Levels
from paddlecloud.embedded.node.sandbox.links import Links
from paddlecloud.embedded.node.sandbox.survey import group_bases
from paddlecloud.embedded.node.workshop import Workshop
from paddlecloud.embedded.ranges import on_loopback
from paddlecloud.errors import NotFound
from paddlecloud.settings import Home

R = TypeVar("R", bound=Resource)
NODE, RANGES = "one", on_loopback(213)


class Shelf:
    """`Upstream` on a dictionary: versions grow, watchers hear of every change."""

    def __init__(self) -> None:
        self.pods: dict[Key, Pod] = {}
        self.others: dict[tuple[type[Resource], str], Resource] = {}
        self.events: list[Event] = []
        self.writes: Counter[str] = Counter()
        self.watcher: Callable[[Pod | None, Pod | None], None] = lambda old, new: None
        self._version = 0

    def put(self, pod: Pod) -> Pod:
        self._version += 1
        metadata = pod.metadata.but(resource_version=str(self._version))
        old, new = self.pods.get(pod.key), pod.but(metadata=metadata)
        self.pods[pod.key] = new
        self.watcher(old, new)
        return new

    def delete(self, pod: Pod) -> None:
        self.watcher(self.pods.pop(pod.key), None)

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None:
        found = self.others.get((kind, name))
        return found if isinstance(found, kind) else None

    async def services(self, namespace: str) -> list[Service]:
        return [found for found in self.others.values() if isinstance(found, Service)]

    async def token(self, pod: Pod, audience: str, seconds: int) -> bytes:
        return f"{audience} {seconds}".encode()

    async def publish(self, pod: Pod, status: dict[str, Any]) -> Pod:
        if pod.key not in self.pods:
            raise NotFound("no such pod")
        self.writes[pod.name] += 1
        stored = self.pods[pod.key]
        return self.put(stored.but(status={**stored.status, **status}))

    async def remove(self, pod: Pod) -> None:
        self.delete(pod)

    async def record(self, event: Event) -> None:
        self.events = [e for e in self.events if e.name != event.name] + [event]


class Yard:
    """A home, a suite `tried` that answers to every shell command, and a node process one can kill."""

    def __init__(self, root: Path, levels: Levels | None = None) -> None:
        self.levels = levels or Levels()
        self.links: Links | None = None
        """None: no test makes links on the machine unless it says so."""
        self.memory: Path | None = None
        self.archive: LogArchive | None = None
        self.clock: Callable[[], float] = time.time
        self.home = Home(root / "home")
        self.home.make()
        suite = root / "suites" / "tried"
        (suite / "code").mkdir(parents=True)
        (suite / "code" / "greeting.txt").write_text("hello from the suite\n")
        (suite / "suite.yaml").write_text(
            "name: tried\nimages: [tried]\npython: self\ncode: code\nat: /workspace\n"
            "entrypoint: [cat, /workspace/greeting.txt]\nenv: {COLOUR: red}\n"
        )
        self.suites = suite.parent
        self.shelf = Shelf()
        self.roster = self.start()

    def start(self) -> Roster:
        """A node process, as far as there is one in a test."""
        self.shop = shop = Workshop(
            home=self.home,
            upstream=self.shelf,
            recorder=Recorder(self.shelf, time.time),
            launcher=Launcher(self.home, self.levels.user_namespace),
            environments=Environments(self.home.environments),
            machine=Machine({"cpu": "2"}, {}),
            suite_folders=(self.suites,),
            api=("127.0.0.1", "6443"),
            now=self.clock,
            levels=self.levels,
            links=self.links,
            memory=self.memory,
            archive=self.archive,
        )
        self.roster = Roster([NODE], RANGES, shop)
        self.shelf.watcher = self.roster.changed
        for pod in list(self.shelf.pods.values()):
            self.roster.changed(None, pod)
        self.roster.sweep()
        return self.roster

    async def restart(self) -> None:
        await self.roster.close()
        self.start()

    async def close(self) -> None:
        await self.roster.close()
        runs = [path for folder in every_pod(self.home) for path in running_runs(folder)]
        for path in runs:
            attempts.kill(path)
            async with asyncio.timeout(20):
                await attempts.ended(path)
        for folder in every_pod(self.home):
            await workshop.leave(folder, self.shop)
        cgroups.remove(group_bases(self.levels, self.home))
        homespace.stop(str(self.home.run))
        if (lock := self.home.run / "zygote.lock").exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(lock.read_text()), signal.SIGKILL)

    def run(self, *command: str, name: str = "p", uid: str = "", **spec: Any) -> Pod:
        """A pod with one container `main`, bound to this node."""
        container = {"name": "main", "image": "tried", **spec.pop("container", {})}
        if command:
            container["command"] = list(command)
        body = {"nodeName": NODE, "restartPolicy": "Never", "containers": [container], **spec}
        metadata = {"name": name, "namespace": "d", "uid": uid or f"uid-{name}"}
        return self.shelf.put(Pod.read({"metadata": metadata, "spec": body}))

    def now(self, name: str = "p") -> Pod:
        return self.shelf.pods[Key("d", name)]

    def log(self, name: str = "p", container: str = "main", number: int = 0) -> str:
        pod = self.now(name)
        return log_text(self.home.pods(NODE) / pod.uid / "containers" / container / str(number))

    def reasons(self) -> list[str]:
        return [e.reason for e in self.shelf.events]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)

    async def finished(self, name: str = "p") -> Pod:
        await self.until(lambda: self.now(name).finished)
        return self.now(name)


def log_text(run_folder: Path) -> str:
    """What a container has written so far, read without the code that is tested."""
    path = run_folder / "log"
    lines = path.read_text().splitlines() if path.exists() else []
    fields = [line.split(" ", 3) for line in lines]
    return "".join(text + ("\n" if kind == "F" else "") for _, _, kind, text in fields)
