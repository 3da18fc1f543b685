"""`pdc logs job/NAME`: all pods of a job together, each line with who said it, in a colour of their own."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ..api.meta import Key
from ..api.paddlejob import PaddleJob
from ..sdk.joblines import Line, LogWish, follow_lines, former_lines, lines_of
from .context import Settings

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red", "bright_cyan", "bright_magenta")


def print_job(settings: Settings, key: Key, wish: LogWish, prefix: bool) -> None:
    """What the pods have said so far; of a job that is gone, what was kept."""
    with settings.connect() as client:
        job = client.find(PaddleJob, *key)
        if job is not None:
            printed(lines_of(client, job, wish), prefix or has_many(job, wish))
            return
        lines = former_lines(client, key, wish)
        first = next(lines, None)
        click.echo(f"job {key.name} is gone; this was kept of its logs:", err=True)
        printed((first, *lines) if first else (), True)


def follow_job(settings: Settings, key: Key, wish: LogWish, prefix: bool) -> None:
    """What they say until the job has ended; raises `NotFound` when there is no such job."""
    with settings.connect() as client:
        job = client.get(PaddleJob, *key)
    printed(follow_lines(settings.connect, key, wish), prefix or has_many(job, wish))


def has_many(job: PaddleJob, wish: LogWish) -> bool:
    """Whether a reader must be told who speaks."""
    asked = [role.replicas for name, role in job.spec.roles().items() if wish.role in ("", name)]
    return sum(asked) > 1 or wish.every_container


def printed(lines: Iterable[Line], named: bool) -> None:
    colours: dict[str, str] = {}
    for speaker, text in lines:
        colour = colours.setdefault(speaker, COLOURS[len(colours) % len(COLOURS)])
        click.echo(f"{click.style(f'[{speaker}]', fg=colour)} {text}" if named else text)
