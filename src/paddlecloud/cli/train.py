"""`pdc train`: a PaddleJob from a script, in one command."""

from __future__ import annotations

import re
import secrets
import time
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console

from ..api.core import ConfigMap
from ..api.meta import Key
from ..api.paddlejob import PaddleJob, Phase
from ..api.workflowrun import StepPhase, StepStatus
from ..controllers.progress import read_line
from ..errors import Failed, WrongUse
from ..sdk.client import Client
from ..sdk.training import IMAGE, Training
from ..sdk.waiting import states
from .context import Settings, namespace_option, pass_settings
from .following import LONGEST, View, log_lines, wait_until_running
from .output import without_noise

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
FILE_NAME = re.compile(r"[-._a-zA-Z0-9]+")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--name", default="", help="Name of the job [default: that of the script and a few letters].")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option("--ps", type=click.IntRange(0), default=0, show_default=True, help="Parameter servers.")
@click.option("--image", default=IMAGE, show_default=True, help="Where Python and Paddle come from.")
@click.option("--data", default="", help="A SampleSet the job trains on.")
@click.option("--data-path", default="/data", show_default=True, help="Where the data appears.")
@click.option("--env", "env", multiple=True, metavar="K=V", help="A variable for the script; repeatable.")
@click.option(
    "--file", "files", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A module the script imports, put beside it; repeatable.",
)  # fmt: skip
@click.option("--follow", is_flag=True, help="Show what it prints and how far it is, until it ends.")
@click.option("--dry-run", is_flag=True, help="Only print the objects that would be made.")
@namespace_option
@pass_settings
def train(
    settings: Settings,
    /,
    script: Path,
    arguments: tuple[str, ...],
    name: str,
    env: tuple[str, ...],
    files: tuple[Path, ...],
    follow: bool,
    dry_run: bool,
    **wish: Any,
) -> None:
    """Train with SCRIPT; what comes after it is handed to it.

    The job is an ordinary PaddleJob: `--dry-run` prints it as YAML that `kubectl apply -f -` takes.
    """
    training = Training(
        name=name or f"{word(script.stem)}-{''.join(secrets.choice(LETTERS) for _ in range(5))}",
        script=script.name,
        files={path.name: content(path) for path in (script, *files)},
        arguments=arguments,
        env=dict(pair(text) for text in env),
        **wish,
    )
    code, job = training.objects()
    if dry_run:
        bodies = [without_noise(obj.wire()) for obj in (code, job)]
        click.echo(yaml.safe_dump_all(bodies, sort_keys=False, allow_unicode=True).rstrip())
        return
    with settings.connect() as client:
        submit(client, code, job)
        click.echo(f"paddlejob/{job.name} created")
        if not follow:
            click.echo(f"  follow it  pdc logs job/{job.name} -f\n  see it     pdc get job {job.name}")
            return
        try:
            watch(client, job.key)
        except KeyboardInterrupt:
            click.echo(f"job {job.name} goes on; end it with `pdc delete job {job.name}`", err=True)
            raise


def submit(client: Client, code: ConfigMap, job: PaddleJob) -> None:
    """Make both; the code goes when the job goes."""
    client.create(code)
    try:
        made = client.create(job)
    except BaseException:
        client.delete(ConfigMap, code.key)
        raise
    owner = {"apiVersion": made.api_version, "kind": made.kind, "name": made.name, "uid": made.uid}
    client.patch(ConfigMap, code.key, {"metadata": {"ownerReferences": [owner]}})


def watch(client: Client, key: Key) -> None:
    """Show the job until it has ended; raises `Failed` with its last words when it did not succeed."""
    console = Console(highlight=False)
    with View(console) as view:
        view.step("training", StepStatus(phase=StepPhase.RUNNING))
        job = wait_until_running(client, key, view)
        for line in log_lines(client, job) if job else ():
            console.print(line.rstrip("\n"), markup=False, soft_wrap=True)
            if told := read_line(line):
                view.training(told.done, told.total, f"{told.done:g} of {told.total:g} {told.unit}")
        for state in states(client, PaddleJob, key, time.monotonic() + LONGEST):
            if state.status.phase.final:
                break
    if state.status.phase is Phase.FAILED:
        why = next((c.message for c in state.status.conditions if c.type == "Failed"), "")
        raise Failed(f"job {key.name} failed: {why}", next_step=f"pdc why job/{key.name}")
    click.echo(f"job {key.name} is {state.status.phase.value}")


def content(path: Path) -> str:
    if not FILE_NAME.fullmatch(path.name):
        raise WrongUse(
            f"a file of code cannot be called {path.name!r}", next_step="use letters, digits, . _ -"
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} cannot be read as text: {error}") from error


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise WrongUse(f"--env {text}: write NAME=VALUE")
    return name, value


def word(stem: str) -> str:
    """As much of a file's name as an object may be called."""
    made = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40].strip("-")
    return made if made[:1].isalpha() else f"job-{made}".strip("-")
