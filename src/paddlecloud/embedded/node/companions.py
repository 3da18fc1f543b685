"""The tasks beside the containers of a pod: they wait for an end, ask probes and carry out hooks.

Which of them there should be is a decision (`wanted`); those that should not be are cancelled. None of them
decides anything: they tell the keeper what they heard, and the next pass does the rest.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ... import log
from ...api.core import Pod
from . import attempts, hooks, probes, roles
from .asking import Answer, Target
from .attempts import State
from .machine import HOST_ADDRESS
from .network.reach import connected
from .network.routing import Endpoint
from .podfolder import PodFolder
from .sight import Sight, is_hooked, is_up, last, stop_of
from .workshop import Workshop

AGAIN = 1.0
"""Seconds until a companion whose words found no room speaks again."""


class Companion(NamedTuple):
    role: str
    """end, postStart, startup, liveness, readiness or preStop"""
    container: str
    number: int
    """Of the run."""


class Ear(Protocol):
    """Who is told."""

    pod: Pod

    def wake(self) -> None:
        """Something has changed."""

    def note_ready(self, run: Companion, ready: bool) -> None: ...
    def note_started(self, run: Companion) -> None: ...
    def note_hooked(self, run: Companion) -> None:
        """The hook of `run.role` is over."""

    def condemn(self, run: Companion, why: str, grace: float | None) -> None:
        """This run is to end."""


def wanted(pod: Pod, seen: Sight) -> Iterator[Companion]:
    for container in roles.every(pod):
        name = container["name"]
        attempt, stop = last(seen, name), stop_of(seen, name)
        if attempt is None or attempt.state != State.RUNNING:
            continue
        listed = ["end"]
        ending = stop is not None or bool(attempt.notes.condemned)
        if stop is not None and not stop.hooked and stop.asked is None:
            listed.append("preStop")
        if not ending and not is_hooked(container, attempt):
            listed.append("postStart")
        elif not ending and not is_up(container, attempt):
            listed.append("startup")
        elif is_up(container, attempt):
            # Whoever is stopped still says whether it can serve, and is left alone otherwise.
            listed += ["readiness"] if container.get("readinessProbe") else []
            listed += ["liveness"] if container.get("livenessProbe") and not ending else []
        yield from (Companion(role, name, attempt.number) for role in listed)


class Companions:
    def __init__(self, folder: PodFolder, shop: Workshop, ear: Ear) -> None:
        self._folder, self._shop, self._ear = folder, shop, ear
        self._tasks: dict[Companion, asyncio.Task[None]] = {}

    def follow(self, pod: Pod, seen: Sight) -> None:
        """See that exactly the wanted ones are there."""
        companions = set(wanted(pod, seen))
        for companion in self._tasks.keys() - companions:
            if not (task := self._tasks.pop(companion)).done():
                task.cancel()
                if companion.role == "end":
                    # What it waited for came after the decision of this pass: decide again.
                    self._ear.wake()
        for companion in companions - self._tasks.keys():
            self._tasks[companion] = asyncio.create_task(self._work(companion, seen))

    async def dismiss(self) -> None:
        """Stop them all; containers are not among them."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, run: Companion, seen: Sight) -> None:
        while True:
            try:
                return await self._accompany(run, seen)
            except OSError as error:
                # What was heard could not be written down; it is asked for again rather than lost.
                log.logger("node").warning("pod %s: %s of %s: %s", self._ear.pod.key, *run[:2], error)
                await asyncio.sleep(AGAIN)

    async def _accompany(self, run: Companion, seen: Sight) -> None:
        if run.role == "end":
            await attempts.ended(self._folder.run_folder(run.container, run.number))
            self._ear.wake()
        elif run.role in ("postStart", "preStop"):
            await self._hook(run, self._target(run, seen))
        else:
            await self._probe(run, self._target(run, seen), seen)

    async def _hook(self, run: Companion, target: Target) -> None:
        container = roles.named(self._ear.pod, run.container)
        complaint = await hooks.carry_out(roles.hook(container, run.role) or {}, target)
        if complaint:
            moment = "PostStart" if run.role == "postStart" else "PreStop"
            message = f"{moment}Hook failed: {complaint}"
            await self._shop.recorder.warn(self._ear.pod, f"Failed{moment}Hook", message, run.container)
        if complaint and run.role == "postStart":
            self._ear.condemn(run, "FailedPostStartHook", None)
        else:
            self._ear.note_hooked(run)

    async def _probe(self, run: Companion, target: Target, seen: Sight) -> None:
        container = roles.named(self._ear.pod, run.container)
        probe = probes.probe_of(container[f"{run.role}Probe"])

        async def tell(found: bool | None, answer: Answer) -> None:
            if run.role == "readiness" and found is not None:
                self._ear.note_ready(run, found)
            elif run.role == "startup" and found:
                self._ear.note_started(run)
            if not answer.good:
                failed = "errored and resulted in unknown state" if answer.good is None else "failed"
                message = f"{run.role.capitalize()} probe {failed}: {answer.words}"
                await self._shop.recorder.warn(self._ear.pod, "Unhealthy", message, run.container)
            if run.role != "readiness" and found is False:
                again = "" if roles.policy(self._ear.pod) == "Never" else ", will be restarted"
                why = f"Container {run.container} failed {run.role} probe{again}"
                self._ear.condemn(run, why, probe.grace)

        hurry = run.role == "readiness" and not seen.ready.get(run.container, False)
        await probes.watch(probe, target, hurry, tell)

    def _target(self, run: Companion, seen: Sight) -> Target:
        record = self._folder.record()
        container, attempt = roles.named(self._ear.pod, run.container), last(seen, run.container)
        shared = record is None or self._ear.pod.spec.get("hostNetwork")
        return Target(
            HOST_ADDRESS if record is None or shared else record.address,
            probes.named_ports(container),
            self._folder.run_folder(run.container, run.number),
            self._shop.launcher,
            age=max(0.0, seen.now - attempt.started_at) if attempt else 0.0,
            dial=self._dial if self._shop.network.separate and not shared else None,
        )

    async def _dial(self, port: int) -> socket.socket:
        """A connection made where the pod's network is: from outside nothing may lead there."""
        record = self._folder.record()
        if record is None:
            raise ConnectionRefusedError
        return await connected(self._shop.network.reach, Endpoint(record.address, port))
