"""`pdc backup`, `restore`, `reset`: the objects of the embedded cluster, kept, put back, thrown away."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from ..embedded.store import copies
from ..errors import Failed, WrongUse
from ..settings import Home
from . import clusters
from .context import Settings, pass_settings


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@pass_settings
def backup(settings: Settings, file: Path) -> None:
    """Write all objects to FILE; the cluster may be running."""
    revision = copies.take(settings.home.store, file)
    click.echo(f"{file} holds {settings.home} as of revision {revision}; it has secrets in it (mode 0600)")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@pass_settings
def restore(settings: Settings, file: Path) -> None:
    """Put the objects of FILE in the place of what is there."""
    home = settings.home
    stopped(home)
    home.make()
    kept = copies.put_back(file, home.store)
    click.echo("restored; start with `pdc up`" + (f"; what was there is in {kept}" if kept else ""))


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@pass_settings
def reset(settings: Settings, yes: bool) -> None:
    """Stop the cluster and throw away everything it knows; environments are kept."""
    home = settings.home
    if not home.state.exists() and not home.store.exists():
        raise WrongUse(f"{home} is no home of a cluster: nothing was touched")
    if not yes:
        click.confirm(f"Throw away all objects, volumes, models and keys in {home}?", abort=True)
    clusters.stop(home)
    for entry in home.root.iterdir():
        if entry == home.environments:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    click.echo(f"{home} is empty; its environments are kept")


def stopped(home: Home) -> None:
    if clusters.state(home).running:
        raise Failed(f"the cluster in {home} is running", next_step="stop it first: pdc down")
