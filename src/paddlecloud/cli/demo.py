"""`pdc demo`: the walk from data to a served model and its successor, on a cluster started for it if need be.

The walk itself is one pipeline, submitted to the pipelines service as any client of kfp 2 would; here is what
comes before and after it.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from typing import Any

import click
from rich.console import Console

from ..api.workflowrun import RunPhase, StepPhase, WorkflowRun
from ..embedded.identity import Identity
from ..errors import Failed, PaddleCloudError
from ..pipelines.walk import Way, package, walk
from ..sdk.client import Client
from ..sdk.runservice import NAMESPACE, run_of, start_run
from . import clusters
from .context import Settings, pass_settings
from .courses import COURSES
from .following import follow
from .walkreport import accuracy, addresses, next_steps, summary
from .walktraces import forget, tidy


@click.command()
@click.option("--keep", is_flag=True, help="Leave the cluster up and say what to try next.")
@click.option(
    "--mode", type=click.Choice(sorted(COURSES)), default="collective", show_default=True,
    help="How it trains: the workers share their gradients, or parameter servers hold the weights.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 8), default=2, show_default=True)
@click.option("--epochs", type=click.IntRange(1), help="Times through the data [default: enough for it].")
@pass_settings
def demo(settings: Settings, keep: bool, mode: str, workers: int, epochs: int | None) -> None:
    """Walk from generated data to a served model and its successor."""
    course = COURSES[mode]
    home, console = settings.home, Console(highlight=False)
    stages = Stages(console)
    was_running = clusters.state(home).running
    stays = keep or was_running
    try:
        if not was_running:
            with stages("cluster", f"embedded, in {home}"):
                clusters.start(home, [])
        with settings.connect() as client:
            identity = clusters.state(home).identity
            assert identity is not None, "it runs"
            with stages("pipeline", f"submitted to {identity.pipelines}"):
                tidy(client)
                run = submit(client, identity, course.way(workers, epochs))
            finished = walked(client, run, console, stays)
            console.print(summary(finished, stages.took))
            addresses(console, client, identity, finished, course.name)
            right = accuracy(finished, "last-requests")
        if right < course.enough:
            raise Failed(f"the served model is right in only {right:.1%} of the cases")
        if keep:
            next_steps(console, home, course.name, finished.name)
    except KeyboardInterrupt:
        if stays and clusters.state(home).running:
            next_steps(console, home, course.name, "")
        raise
    finally:
        if not stays:
            with stages("stop", "the cluster and its pods"):
                clusters.stop(home)


def submit(client: Client, identity: Identity, way: Way) -> WorkflowRun:
    tag = secrets.token_hex(3)
    job = f"{way.model}-{tag}"
    id = start_run(identity.pipelines, package(walk(NAMESPACE, way)), {"job": job}, f"walk {tag}")
    return run_of(client, id)


def walked(client: Client, run: WorkflowRun, console: Console, stays: bool) -> WorkflowRun:
    """The run at its end; one that is interrupted is taken out of a cluster that is to stop.

    The next start of that cluster would go on with it.
    """
    try:
        follow(client, run, console)
    except KeyboardInterrupt:
        if not stays:
            with contextlib.suppress(PaddleCloudError):
                forget(client, run)
        raise
    finished = client.get(WorkflowRun, *run.key)
    if finished.status.phase is RunPhase.SUCCEEDED:
        return finished
    failed = ((k, n) for k, n in finished.status.nodes.items() if n.phase is StepPhase.FAILED)
    name, node = next(failed, ("", None))
    if node is None:
        raise Failed(f"run {run.name} ended as {finished.status.phase.value}")
    raise Failed(
        f"step {name} failed:\n{node.message}",
        next_step=f"with --keep: pdc pipeline logs {run.name} {name}    or    "
        f"pdc why workflowrun/{run.name} -n {NAMESPACE}",
    )


class Stages:
    """Parts of the walk outside the pipeline, with what they took."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.took: list[tuple[str, str, float]] = []

    @contextlib.contextmanager
    def __call__(self, name: str, what: str) -> Any:
        began = time.monotonic()
        self.console.print(f"[bold]{name}[/bold]  {what}")
        yield
        self.took.append((name, what, time.monotonic() - began))
