"""Keeps one pod: looks, asks `lifecycle` what to do, does it, says what it saw, and waits for a change.

The loop may be killed between any two of its deeds: the next one looks again and goes on. It ends only when
the pod is gone from the node and from the API.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

from ... import log
from ...api.core import Pod
from ...errors import Conflict, Failed, NotFound, PaddleCloudError
from . import attempts, probes, workshop
from .attempts import Attempt, State
from .lifecycle import Sight, Start, Step, names, next_step
from .machine import HOST_ADDRESS
from .obstacles import Obstacle
from .podfolder import PodFolder
from .podstatus import Addresses, status_of
from .workshop import Preparation, Workshop

RETRY = (0.5, 1.0, 2.0, 5.0)
"""Seconds between looks for something that is missing; the last one stays."""


class Keeper:
    def __init__(self, pod: Pod, folder: PodFolder, shop: Workshop) -> None:
        self.pod = pod
        self.folder = folder
        self._shop = shop
        self._wake = asyncio.Event()
        self._sight = Sight(0.0)
        """What is known beyond the files: probes, obstacles, requests to stop."""
        self._prepared: Preparation | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._companions: dict[tuple[str, str, int], asyncio.Task[None]] = {}
        self._swept: set[tuple[str, int]] = set()
        self._paused: set[tuple[str, int]] = set()
        self._sent: dict[str, Any] = {}
        self._log = log.for_object("node", "Pod", pod.namespace, pod.name)

    def update(self, pod: Pod) -> None:
        """A newer version of the pod was seen; an older one than our own last write is no news."""
        ours, theirs = self.pod.metadata.resource_version, pod.metadata.resource_version
        if ours.isdecimal() and theirs.isdecimal() and int(theirs) <= int(ours):
            return
        self.pod = pod
        self._wake.set()

    def gone(self) -> None:
        """The pod has left the API: stop what runs and clean up."""
        if self._sight.gone_since is None:
            self._sight = replace(self._sight, gone_since=self._shop.now())
            self._wake.set()

    async def run(self) -> None:
        """Keep the pod until it is gone. Cancelling leaves its containers running."""
        failures = 0
        try:
            while True:
                self._wake.clear()
                try:
                    step = await self._pass()
                    if step.remove:
                        return
                    failures, pause = 0, step.check_again
                except (PaddleCloudError, OSError) as error:
                    pause = RETRY[min(failures, len(RETRY) - 1)]
                    failures += 1
                    self._log.warning("will be tried again in %.1f s: %s", pause, error)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
        finally:
            await self._dismiss()

    async def _pass(self) -> Step:
        seen = self._look()
        step = next_step(self.pod, seen)
        if step.remove:
            await self._remove(seen)
            return step
        if step.prepare and self._preparing is None:
            self._preparing = asyncio.create_task(self._prepare())
        for start in step.start:
            await self._start(start)
        for name in step.ask_to_stop:
            await self._ask_to_stop(name, seen)
        for name in step.kill:
            attempts.kill(self.folder.run_folder(name, seen.attempts[name][-1].number))
        seen = self._look()
        self._accompany(seen)
        await self._publish(seen)
        await self._tell_pauses(seen)
        return step

    def _look(self) -> Sight:
        runs = {name: self.folder.attempts(name) for name in names(self.pod)}
        for name, of_container in runs.items():
            for attempt in of_container:
                if attempt.state == State.VANISHED and (name, attempt.number) not in self._swept:
                    self._swept.add((name, attempt.number))
                    attempts.sweep(self.pod.uid, name)
        return replace(self._sight, now=self._shop.now(), attempts=runs, prepared=self._prepared is not None)

    async def _prepare(self) -> None:
        """Look for what the pod needs until it is all there."""
        tries = 0
        while True:
            try:
                self._prepared = await workshop.prepare(self.pod, self.folder, self._shop, self._progress)
            except PaddleCloudError as error:
                obstacle = error if isinstance(error, Obstacle) else Obstacle(error.message)
                self._sight = replace(self._sight, obstacle=obstacle)
                self._wake.set()
                await self._shop.recorder.warn(self.pod, obstacle.event, str(obstacle))
            else:
                self._sight = replace(self._sight, obstacle=None, progress="")
                self._wake.set()
                return
            await asyncio.sleep(RETRY[min(tries, len(RETRY) - 1)])
            tries += 1

    def _progress(self, text: str) -> None:
        first = not self._sight.progress
        self._sight = replace(self._sight, obstacle=None, progress=text)
        if first:
            # Only the beginning is worth a write; what follows goes out with the next one.
            self._wake.set()

    async def _start(self, start: Start) -> None:
        assert self._prepared is not None
        container = self._container(start.container)
        folder = self.folder.run_folder(start.container, start.number)
        recorder = self._shop.recorder
        if not attempts.described(folder):
            try:
                order = await workshop.describe(self.pod, container, folder, self._prepared, self._shop)
            except Obstacle as obstacle:
                lasting = start.container in self._sight.obstacles
                self._sight = replace(
                    self._sight, obstacles={**self._sight.obstacles, start.container: obstacle}
                )
                await self._publish(self._look())
                if lasting:
                    # The endpoints of a job come a moment after its pods: that alone is nothing to warn of.
                    await recorder.warn(self.pod, obstacle.event, str(obstacle), start.container)
                raise
            attempts.describe(folder, order | {"crashes": start.crashes})
            suite, _ = self._prepared.images[container.get("image") or ""]
            pulled = f"Image {container.get('image')!r} is the suite {suite.name}; its environment is present"
            await recorder.tell(self.pod, "Pulled", pulled, start.container)
            await recorder.tell(self.pod, "Created", f"Created container: {start.container}", start.container)
        try:
            await self._shop.launcher.start(folder)
        except Failed as failure:
            await recorder.warn(self.pod, "Failed", str(failure), start.container)
            raise
        kept = {k: v for k, v in self._sight.obstacles.items() if k != start.container}
        self._sight = replace(self._sight, obstacles=kept)
        self.folder.forget_old_runs(start.container)
        self._log.info("started container %s, run %d", start.container, start.number)
        await recorder.tell(self.pod, "Started", f"Started container {start.container}", start.container)

    async def _ask_to_stop(self, name: str, seen: Sight) -> None:
        attempts.ask_to_stop(self.folder.run_folder(name, seen.attempts[name][-1].number))
        self._sight = replace(self._sight, asked_to_stop=self._sight.asked_to_stop | {name})
        self._log.info("stopping container %s", name)
        if seen.gone_since is None:
            await self._shop.recorder.tell(self.pod, "Killing", f"Stopping container {name}", name)

    def _accompany(self, seen: Sight) -> None:
        """One task waits for the end of every run, another asks its readiness probe."""
        wanted = {
            (role, name, runs[-1].number)
            for name, runs in seen.attempts.items()
            if runs and runs[-1].state == State.RUNNING
            for role in ("end", *(("ready",) if self._container(name).get("readinessProbe") else ()))
        }
        for key in self._companions.keys() - wanted:
            self._companions.pop(key).cancel()
            if key[0] == "ready":
                self._sight = replace(
                    self._sight, ready={k: v for k, v in self._sight.ready.items() if k != key[1]}
                )
        for role, name, number in wanted - self._companions.keys():
            work = self._until_ended(name, number) if role == "end" else self._probe(name, number)
            self._companions[role, name, number] = asyncio.create_task(work)

    async def _until_ended(self, name: str, number: int) -> None:
        await attempts.ended(self.folder.run_folder(name, number))
        self._wake.set()

    async def _probe(self, name: str, number: int) -> None:
        container = self._container(name)
        record = self.folder.record()
        target = probes.Target(
            record.address if record else HOST_ADDRESS,
            probes.named_ports(container),
            self.folder.run_folder(name, number),
        )
        complaints: asyncio.Queue[str] = asyncio.Queue()

        def tell(ready: bool, complaint: str) -> None:
            if self._sight.ready.get(name) != ready:
                self._sight = replace(self._sight, ready={**self._sight.ready, name: ready})
                self._wake.set()
            if complaint:
                complaints.put_nowait(complaint)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(probes.watch(probes.probe_of(container["readinessProbe"]), target, tell))
            while True:
                message = f"Readiness probe failed: {await complaints.get()}"
                await self._shop.recorder.warn(self.pod, "Unhealthy", message, name)

    async def _publish(self, seen: Sight) -> None:
        record = self.folder.record()
        if record is None or seen.gone_since is not None:
            return
        status = status_of(self.pod, seen, Addresses(record.address, HOST_ADDRESS))
        if status == self._sent or all(self.pod.status.get(k) == v for k, v in status.items()):
            return
        try:
            self.update(await self._shop.upstream.publish(self.pod, status))
            self._sent = status
        except (NotFound, Conflict):
            # Gone, or another pod of that name: the watch will tell.
            return
        self._log.info("is %s", status["phase"])

    async def _tell_pauses(self, seen: Sight) -> None:
        for name, runs in seen.attempts.items():
            newest: Attempt | None = runs[-1] if runs else None
            if newest is None or not newest.state.over or (name, newest.number) in self._paused:
                continue
            self._paused.add((name, newest.number))
            if any(c["name"] == name and "waiting" in c["state"] for c in self._statuses()):
                message = f"Back-off restarting failed container {name} in pod {self.pod.name}"
                await self._shop.recorder.warn(self.pod, "BackOff", message, name)

    async def _remove(self, seen: Sight) -> None:
        await self._publish(seen)
        await self._dismiss()
        await asyncio.to_thread(self.folder.remove)
        if seen.gone_since is None:
            with contextlib.suppress(NotFound, Conflict):
                await self._shop.upstream.remove(self.pod)
        self._log.info("removed")

    async def _dismiss(self) -> None:
        """Stop our own tasks; containers are not among them."""
        tasks = [*self._companions.values(), *([self._preparing] if self._preparing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._companions.clear()

    def _container(self, name: str) -> dict[str, Any]:
        every = (*(self.pod.spec.get("initContainers") or ()), *self.pod.spec["containers"])
        return next(dict(c) for c in every if c["name"] == name)

    def _statuses(self) -> list[dict[str, Any]]:
        status = self.pod.status
        return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
