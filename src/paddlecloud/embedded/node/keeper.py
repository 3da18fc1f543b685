"""Keeps one pod: looks, asks `lifecycle` what to do, does it, says what it saw, and waits for a change.

The loop may be killed between any two of its deeds: the next one looks again and goes on. It ends only when
the pod is gone from the node and from the API.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from ... import log
from ...api.core import Pod
from ...errors import Conflict, NotFound, PaddleCloudError
from . import attempts, starting, workshop
from .companions import Companion, Companions
from .lifecycle import Start, Step, next_step
from .lookout import Lookout, steady
from .machine import HOST_ADDRESS
from .obstacles import Obstacle
from .podfolder import PodFolder, Record
from .podstatus import Addresses, is_ready, status_of
from .preparing import RETRY, Preparing, sandbox_failed
from .sight import Ending, Sight, is_leaving, last, stop_of
from .stopping import DEADLINE, Stopping, ending
from .workshop import Workshop


class Keeper:
    def __init__(
        self, pod: Pod, folder: PodFolder, shop: Workshop, refused: Ending | None, record: Record | None
    ) -> None:
        """*refused*: the node does not take the pod; *record*: what could not be written down yet."""
        self.pod = pod
        self._record = record
        self.folder = folder
        self._shop = shop
        self._wake = asyncio.Event()
        self._lookout = Lookout(pod, folder, shop.now, refused)
        self._preparing = Preparing(folder, shop, self.learn, lambda: self.pod)
        self._companions = Companions(folder, shop, self)
        self._told: set[tuple[str, ...]] = set()
        """What was said in events and is not said again."""
        self._sent: dict[str, Any] = {}
        self._log = log.for_object("node", "Pod", pod.namespace, pod.name)

    def update(self, pod: Pod) -> None:
        """A newer version of the pod was seen; an older one than our own last write is no news."""
        ours, theirs = self.pod.metadata.resource_version, pod.metadata.resource_version
        if ours.isdecimal() and theirs.isdecimal() and int(theirs) <= int(ours):
            return
        self.pod = pod
        self.wake()

    def gone(self) -> None:
        """The pod has left the API: stop what runs and clean up."""
        if not self._lookout.known.gone:
            self.learn(gone=True, leave_by=steady())

    def wake(self) -> None:
        self._wake.set()

    def learn(self, quietly: bool = False, **news: Any) -> None:
        """Something was heard that no file tells; *quietly*: the next pass is early enough."""
        self._lookout.learn(**news)
        if not quietly:
            self.wake()

    def note_ready(self, run: Companion, ready: bool) -> None:
        known = self._lookout.known.ready
        if known.get(run.container) != ready:
            self.learn(ready={**known, run.container: ready})

    def note_started(self, run: Companion) -> None:
        attempts.note(self._run_folder(run), started=True)
        self.wake()

    def note_hooked(self, run: Companion) -> None:
        if run.role == "postStart":
            attempts.note(self._run_folder(run), hooked=True)
        else:
            self._lookout.stopping(run.container, run.number, hooked=True)
        self.wake()

    def condemn(self, run: Companion, why: str, grace: float | None) -> None:
        attempts.note(self._run_folder(run), condemned=why, grace=grace)
        self.wake()

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
        if self._record is not None and not is_leaving(self._look()):
            await self._settle(self._record)
        seen = self._look()
        step = next_step(self.pod, seen)
        if step.prepare:
            # What is there in a moment is not first told as missing: the start would wait for that write.
            await self._preparing.begin(self.pod)
            self._wake.clear()
            seen = self._look()
            step = next_step(self.pod, seen)
        if step.remove:
            await self._remove(seen)
            return step
        await self._preparing.show(self.pod)
        obstacles = [obstacle for wish in step.start if (obstacle := await self._start(wish))]
        await self._tell_ending(seen)
        await self._stop(step.stop, seen)
        seen = self._look()
        self._companions.follow(self.pod, seen)
        await self._publish(seen)
        await self._tell_pauses(seen)
        if self.pod.finished and not any(map(self._runs, seen.attempts)):
            await self._preparing.dismiss()
            await workshop.leave(self.folder, self._shop)
        if obstacles:
            raise obstacles[0]
        return step

    async def _settle(self, record: Record) -> None:
        """Write the pod down; raises `SandboxFailed` where that cannot be done now, and the pod says so."""
        try:
            self.folder.settle(record)
        except OSError as error:
            obstacle = sandbox_failed(error)
            self.learn(quietly=True, obstacle=obstacle)
            await self._shop.recorder.warn(self.pod, obstacle.event, str(obstacle))
            await self._publish(self._look())
            raise obstacle from error
        self._record = None
        self.learn(quietly=True, obstacle=None)

    def _look(self) -> Sight:
        return self._lookout.look(self.pod, prepared=self._preparing.is_done(self.pod))

    async def _start(self, wish: Start) -> Obstacle | None:
        """Start a container; what keeps it from running keeps no other."""
        assert self._preparing.done is not None
        if wish.number and not await self._preparing.see_again():
            self._log.info("a volume of container %s is dead and made anew", wish.container)
            self._wake.set()
            return None
        known = self._lookout.known.obstacles
        try:
            await starting.start(self.pod, self.folder, wish, self._preparing.done, self._shop)
        except Obstacle as obstacle:
            self.learn(quietly=True, obstacles={**known, wish.container: obstacle})
            if wish.container in known:
                # The endpoints of a job come a moment after its pods: that alone is nothing to warn of.
                message = f"Error: {obstacle}"
                await self._shop.recorder.warn(self.pod, obstacle.event, message, wish.container)
            return obstacle
        self.learn(quietly=True, obstacles={k: v for k, v in known.items() if k != wish.container})
        self._log.info("started container %s, run %d", wish.container, wish.number)
        return None

    async def _stop(self, wish: Stopping, seen: Sight) -> None:
        for name in (*wish.hook, *wish.ask):
            if stop_of(seen, name) is None:
                await self._tell_killing(name, seen)
        for name in wish.hook:
            self._lookout.stopping(name, seen.attempts[name][-1].number)
        for name in wish.ask:
            number = seen.attempts[name][-1].number
            attempts.ask_to_stop(self.folder.run_folder(name, number))
            self._lookout.stopping(name, number, hooked=True, asked=steady())
            self._log.info("stopping container %s", name)
        for name in wish.kill:
            attempts.kill(self.folder.run_folder(name, seen.attempts[name][-1].number))

    async def _tell_ending(self, seen: Sight) -> None:
        found = None if self.pod.finished else ending(self.pod, seen)
        if found is None or ("ended", found.reason) in self._told:
            return
        self._told.add(("ended", found.reason))
        tell = self._shop.recorder.tell if found is DEADLINE else self._shop.recorder.warn
        await tell(self.pod, found.reason, found.message)

    async def _tell_killing(self, name: str, seen: Sight) -> None:
        if seen.gone:
            return
        attempt = last(seen, name)
        message = (attempt.notes.condemned if attempt else "") or f"Stopping container {name}"
        await self._shop.recorder.tell(self.pod, "Killing", message, name)

    async def _publish(self, seen: Sight) -> None:
        record = self.folder.record()
        unsaid = record is None and seen.refused is None and seen.obstacle is None
        if unsaid or seen.gone:
            return
        addresses = Addresses(workshop.address_of(self.pod, record), HOST_ADDRESS)
        status = status_of(self.pod, seen, addresses)
        if status == self._sent and self.pod.condition("Ready") == is_ready(status):
            return
        if all(self.pod.status.get(k) == v for k, v in status.items()):
            return
        # Who sees the status finds the events that led to it.
        await self._shop.recorder.told(self.pod)
        try:
            self.update(await self._shop.upstream.publish(self.pod, status))
            self._sent = status
        except (NotFound, Conflict):
            # Gone, or another pod of that name: the watch will tell.
            return
        self._log.info("is %s", status["phase"])

    async def _tell_pauses(self, seen: Sight) -> None:
        status = self.pod.status
        for found in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
            reason = (found["state"].get("waiting") or {}).get("reason")
            pause = ("pause", found["name"], str(found["restartCount"]))
            if reason == "CrashLoopBackOff" and pause not in self._told:
                self._told.add(pause)
                pod = f"{self.pod.name}_{self.pod.namespace}({self.pod.uid})"
                message = f"Back-off restarting failed container {found['name']} in pod {pod}"
                await self._shop.recorder.warn(self.pod, "BackOff", message, found["name"])

    async def _remove(self, seen: Sight) -> None:
        await self._publish(seen)
        await self._dismiss()
        await workshop.leave(self.folder, self._shop)
        if self._shop.archive:
            await asyncio.to_thread(self._shop.archive.keep, self.folder)
        await asyncio.to_thread(self.folder.remove)
        if not seen.gone:
            await self._shop.recorder.told(self.pod)
            with contextlib.suppress(NotFound, Conflict):
                await self._shop.upstream.remove(self.pod)
        self._log.info("removed")

    async def _dismiss(self) -> None:
        """Stop our own tasks; containers are not among them."""
        await self._companions.dismiss()
        await self._preparing.dismiss()

    def _run_folder(self, run: Companion) -> Path:
        return self.folder.run_folder(run.container, run.number)

    def _runs(self, name: str) -> bool:
        return any(attempt.state == attempts.State.RUNNING for attempt in self.folder.attempts(name))
