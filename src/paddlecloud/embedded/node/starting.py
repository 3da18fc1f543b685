"""Starts one run of a container: describes it, launches it, and tells the pod's events about it.

The description is written first and whole. Killed after it, the next node launches the same run; the shim
sees to it that it runs once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...api.core import Pod
from ...errors import Failed
from . import attempts, pulls, roles, workshop
from .lifecycle import Start
from .obstacles import CreationFailed, RunFailed
from .podfolder import PodFolder
from .warmstarts import Warmth, warmth_of
from .workshop import Preparation, Workshop


async def start(pod: Pod, folder: PodFolder, wish: Start, prepared: Preparation, shop: Workshop) -> None:
    """Raises an `Obstacle` that keeps the container, and only it, from running."""
    run_folder = folder.run_folder(wish.container, wish.number)
    if roles.is_visitor(pod, wish.container):
        folder.welcome(wish.container)
    if not attempts.described(run_folder):
        await create(pod, folder, wish, prepared, shop)
    try:
        await shop.launcher.start(run_folder, warmth(pod, wish, run_folder, prepared))
    except Failed as failure:
        message = f"Error: {failure}"
        await shop.recorder.warn(pod, "Failed", message, wish.container)
        raise RunFailed(failure.message, next_step=failure.next_step) from failure
    folder.forget_old_runs(wish.container)
    begun = attempts.read(run_folder)
    if begun.not_started:
        await shop.recorder.warn(pod, "Failed", f"Error: {begun.message}", wish.container)
    else:
        await shop.recorder.tell(pod, "Started", f"Started container {wish.container}", wish.container)


def warmth(pod: Pod, wish: Start, run_folder: Path, prepared: Preparation) -> Warmth | None:
    order = attempts.content(run_folder / "run.json")
    used = prepared.images.get(roles.named(pod, wish.container).get("image") or "")
    return warmth_of(*used, order) if used and order.get("warm") else None


async def create(pod: Pod, folder: PodFolder, wish: Start, prepared: Preparation, shop: Workshop) -> None:
    container = roles.named(pod, wish.container)
    if lacked := prepared.lacking.get(container.get("image") or ""):
        raise lacked
    run_folder = folder.run_folder(wish.container, wish.number)
    image = prepared.found.get(container.get("image") or "")
    shaped = pulls.shaped(pod, container, image) if image else container
    try:
        order = await workshop.describe(pod, shaped, run_folder, prepared, shop)
        used = prepared.images.get(container.get("image") or "")
        warm = {"warm": True} if used and warmth_of(*used, order) else {}
        attempts.describe(run_folder, order | notes_for(container, image, wish) | warm)
    except OSError as error:
        raise CreationFailed(f"container {wish.container} could not be described: {error}") from error
    await shop.recorder.tell(pod, "Pulled", pulls.words_of(container, image), wish.container)
    await shop.recorder.tell(pod, "Created", f"Created container: {wish.container}", wish.container)


def notes_for(container: roles.Container, image: pulls.Image | None, wish: Start) -> dict[str, Any]:
    """What a run's description says for the node itself."""
    notes: dict[str, Any] = {"crashes": wish.crashes}
    if container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        notes["fallback"] = True
    if image is not None:
        notes["imageID"] = pulls.id_of(image)
        notes["stopSignal"] = image.config.stop_signal
    return notes
