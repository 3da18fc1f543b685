"""`pdc train`: a PaddleJob from a script, in one command."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console

from ..api.meta import Key, Resource
from ..api.paddlejob import PaddleJob, Phase
from ..api.workflowrun import StepPhase, StepStatus
from ..controllers.jobphase import deciding_role
from ..errors import Failed, TimedOut, WrongUse
from ..sdk.joblines import Line, LogWish, follow_lines
from ..sdk.scripts import PS_IMAGE, training_of
from ..sdk.submitting import submit
from ..sdk.training import IMAGE
from ..sdk.waiting import wait_for
from .context import Settings, namespace_option, pass_settings
from .following import LONGEST, View, wait_until_running
from .live import Live
from .output import without_noise


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--name", default="", help="Name of the job [default: that of the script and a few letters].")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option("--ps", type=click.IntRange(0), default=0, show_default=True, help="Parameter servers.")
@click.option(
    "--image", default="", help=f"Where Python and Paddle come from [default: {IMAGE}; with --ps {PS_IMAGE}]."
)
@click.option("--data", default="", help="A SampleSet the job trains on.")
@click.option("--data-path", default="/data", show_default=True, help="Where the data appears.")
@click.option("--env", "env", multiple=True, metavar="K=V", help="A variable for the script; repeatable.")
@click.option(
    "--file", "files", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A module the script imports, put beside it; repeatable.",
)  # fmt: skip
@click.option("--follow", is_flag=True, help="Show what it prints and how far it is, until it ends.")
@click.option("--timeout", type=float, default=LONGEST, help="Seconds to follow; the job goes on.")
@click.option("--dry-run", is_flag=True, help="Only print the objects that would be made.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json", "name"]), help="Form of what is printed.")
@namespace_option
@pass_settings
def train(
    settings: Settings,
    /,
    script: Path,
    arguments: tuple[str, ...],
    env: tuple[str, ...],
    follow: bool,
    timeout: float,
    dry_run: bool,
    output: str | None,
    **wish: Any,
) -> None:
    """Train with SCRIPT; what comes after it is handed to it.

    The job is an ordinary PaddleJob: `--dry-run` prints it as YAML that `kubectl apply -f -` takes.
    """
    code, job = training_of(script, arguments, env=dict(pair(text) for text in env), **wish).objects()
    if dry_run:
        show([code, job], output or "yaml")
        return
    with settings.connect() as client:
        made = submit(client, job, code)
    if output:
        show([made], output)
    else:
        click.echo(f"paddlejob/{job.name} created")
    if follow:
        try:
            watch(settings, job.key, timeout)
        except KeyboardInterrupt:
            click.echo(f"job {job.name} goes on; end it with `pdc delete job {job.name}`", err=True)
            raise
    elif not output:
        click.echo(f"  follow it  pdc logs job/{job.name} -f\n  see it     pdc get job {job.name}")


def show(objects: list[Resource], form: str) -> None:
    bodies = [without_noise(obj.wire()) for obj in objects]
    if form == "name":
        click.echo("\n".join(f"{obj.kind.lower()}/{obj.name}" for obj in objects))
    elif form == "json":
        several = {"apiVersion": "v1", "kind": "List", "items": bodies}
        click.echo(json.dumps(several if len(bodies) > 1 else bodies[0], indent=2, ensure_ascii=False))
    else:
        click.echo(yaml.safe_dump_all(bodies, sort_keys=False, allow_unicode=True).rstrip())


def watch(settings: Settings, key: Key, timeout: float) -> None:
    """Show the job until it has ended; raises `Failed` with its last words, or `TimedOut`."""
    deadline, console = time.monotonic() + timeout, Console(highlight=False)
    with settings.connect() as client, View(console) as view:
        view.step("training", StepStatus(phase=StepPhase.RUNNING))
        job = wait_until_running(client, key, view, deadline)
        if job is None:
            raise late(key, timeout)
        alone = sum(role.replicas for role in job.spec.roles().values()) == 1
        first, live = f"{deciding_role(job)}-0", Live(time.monotonic)

        def in_time() -> None:
            if time.monotonic() > deadline:
                raise late(key, timeout)

        for line in follow_lines(settings.connect, key, LogWish(), in_time):
            console.print(printed(line, alone), markup=False, soft_wrap=True)
            if line.speaker == first and (told := live.feed(line.text)):
                view.training(told)
        left = max(0.0, deadline - time.monotonic())
        state = wait_for(client, PaddleJob, key, lambda job: job.status.phase.final, left)
    if state.status.phase is Phase.FAILED:
        why = next((c.message for c in state.status.conditions if c.type == "Failed"), "")
        raise Failed(f"job {key.name} failed: {why}", next_step=f"pdc why job/{key.name}")
    click.echo(f"job {key.name} is {state.status.phase.value}")


def late(key: Key, timeout: float) -> TimedOut:
    return TimedOut(
        f"job {key.name} has not ended after {timeout:g} s; it goes on",
        next_step=f"pdc logs job/{key.name} -f, or pdc why job/{key.name}",
    )


def printed(line: Line, alone: bool) -> str:
    return line.text if alone else f"[{line.speaker}] {line.text}"


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise WrongUse(f"--env {text}: write NAME=VALUE")
    return name, value
