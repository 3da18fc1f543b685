"""Prepares a pod again and again until all it needs is there, and says what it waits for.

An image that cannot be had is asked for less and less often; anything else may appear at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...api.core import Pod
from ...errors import Failed, PaddleCloudError
from ...images import words
from . import pulls, workshop
from .obstacles import Obstacle, SandboxFailed
from .podfolder import PodFolder
from .volumes.refreshing import refresh, shown
from .workshop import Preparation, Workshop, place_of

RETRY = (0.5, 1.0, 2.0, 5.0)
"""Seconds between looks for something that is missing; the last one stays."""
MOMENT = 0.1
"""Seconds; most pods need nothing that is not here."""
SHOWN = 1.0
"""Seconds for which a failed pull is told as such before it is a pause."""


class Preparing:
    """*newest* is asked for the pod at every try: labels and annotations change while something lacks."""

    def __init__(
        self, folder: PodFolder, shop: Workshop, learn: Callable[..., None], newest: Callable[[], Pod]
    ) -> None:
        self._folder, self._shop, self._tell, self._newest = folder, shop, learn, newest
        self._shown: tuple[Any, ...] = ()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._progress = ""
        self.done: Preparation | None = None

    async def begin(self, pod: Pod) -> None:
        """See that somebody is at it; returns when there is something to tell, but a moment later at most."""
        if self._task is None or (self._task.done() and not self.is_done(pod)):
            self._task = asyncio.create_task(self._prepare())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(MOMENT):
                    await self._news.wait()

    def is_done(self, pod: Pod) -> bool:
        return self.done is not None and self.done.covers(pod)

    async def see_again(self) -> bool:
        """Whether what was prepared is still there; what is not is prepared once more.

        A file system whose process died leaves a mount that answers nobody: a container that is started
        again would get just that.
        """
        volumes = self.done.volumes.values() if self.done else ()
        if not await asyncio.to_thread(lambda: any(map(dead, volumes))):
            return True
        self.done = None
        return False

    async def show(self, pod: Pod) -> None:
        """Let a pod that is prepared see what it was told since: its labels and annotations."""
        # Of one that an earlier process prepared it is not known what it sees.
        found_again = self._task is None
        if (self._shown or found_again) and self._shown != shown(pod):
            self._shown = shown(pod)
            await refresh(pod, place_of(pod, self._shop), self._shop.upstream, self._shop.recorder)

    async def dismiss(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _prepare(self) -> None:
        tries = pulls_failed = 0
        while True:
            pod = self._newest()
            try:
                self.done = await workshop.prepare(pod, self._folder, self._shop, self._tell_progress)
                self._shown = shown(pod)
            except (PaddleCloudError, OSError) as error:
                obstacle = obstacle_of(error)
                self._learn(obstacle=obstacle)
                await self._shop.recorder.warn(pod, obstacle.event, str(obstacle))
                await asyncio.sleep(RETRY[min(tries, len(RETRY) - 1)])
                tries += 1
                continue
            lacking = self.done.lacking
            self._learn(obstacle=None, progress="", lacking=lacking)
            if not lacking:
                return
            pulls_failed += 1
            await self._back_off(pod, lacking, words.pause(pulls_failed))

    async def _back_off(self, pod: Pod, lacking: Mapping[str, Obstacle], seconds: float) -> None:
        """Say what failed, then that it waits; those who need other images run meanwhile."""
        recorder = self._shop.recorder
        for failed in lacking.values():
            await recorder.warn(pod, failed.event, str(failed))
            await recorder.warn(pod, "Failed", f"Error: {failed.reason}")
        await asyncio.sleep(SHOWN)
        self._learn(lacking={image: pulls.backing_off(failed) for image, failed in lacking.items()})
        for failed in lacking.values():
            if failed.reason == pulls.FAILED:
                await recorder.tell(pod, "BackOff", words.back_off(failed.image))
                await recorder.warn(pod, "Failed", "Error: ImagePullBackOff")
        await asyncio.sleep(seconds - SHOWN)

    def _learn(self, **news: Any) -> None:
        self._tell(**news)
        self._news.set()

    def _tell_progress(self, text: str) -> None:
        first, self._progress = not self._progress, text
        news: dict[str, Any] = {"obstacle": None, "progress": text}
        # Only the beginning is worth a write; what follows goes out with the next one.
        self._learn(quietly=not first, **news)


def dead(path: Path) -> bool:
    try:
        # The attributes of a folder may be remembered; this is asked of the file system itself.
        os.statvfs(path)
    except OSError as error:
        return error.errno == errno.ENOTCONN
    return False


def obstacle_of(error: PaddleCloudError | OSError) -> Obstacle:
    if isinstance(error, Obstacle):
        return error
    if isinstance(error, Failed):
        return SandboxFailed(f"Failed to create pod sandbox: {error.message}", next_step=error.next_step)
    return Obstacle(error.message) if isinstance(error, PaddleCloudError) else sandbox_failed(error)


def sandbox_failed(error: OSError) -> SandboxFailed:
    """What belongs to the pod could not be made here: a full disk, or a folder that is closed."""
    where = f"{error.filename}: " if error.filename else ""
    return SandboxFailed(
        f"Failed to create pod sandbox: {where}{error.strerror or error}",
        next_step="make room or give access; the pod goes on by itself",
    )
