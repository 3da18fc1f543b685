"""`pdc model push`, `pull`, `convert`, `gc`: what moves files between folders and the hub."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ..api.meta import Key
from ..api.model import Lineage, ModelVersion
from ..errors import WrongUse
from ..models.objects import Moved
from ..models.upload import Step
from ..sdk import hub
from ..sdk.modelconversion import FORMATS, convert_version
from ..sdk.modelgarbage import unused
from ..sdk.modelstore import opened
from ..sdk.publishing import ENDPOINT, KEYS, Place, publish_version
from ..sdk.pushing import foreseen, pull_version, push_folder, ready
from ..sizes import size as human
from .bars import bars_on
from .context import Settings, namespace_option, pass_settings
from .data import dry_option, form_option, show_object, wait_option
from .output import lay_out

time_option = click.option("--timeout", type=float, default=1800.0, help="Seconds to wait; it goes on.")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="Name of the model; it is made with its first version.")
@click.option("--version", default="", help="Free text that names this version [default: v and its number].")
@click.option("--metric", "metrics", multiple=True, metavar="KEY=NUMBER", help="May be given several times.")
@click.option("--alias", "aliases", multiple=True, help="Alias to move there once it is Ready.")
@click.option("--why", default="", help="The reason, for the ledger of these aliases.")
@click.option("--data", default="", help="SampleSet it was trained with.")
@click.option("--job", default="", help="PaddleJob that trained it.")
@click.option("--code", default="", help="Digest of the code that trained it.")
@dry_option
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def push(settings: Settings, /, folder: Path, name: str, namespace: str, **wish: Any) -> None:
    """Make a version of the files in FOLDER; a push that was cut off goes on where it was.

    The first version of a model gets the alias latest, later ones with --alias latest.
    """
    model = Key(namespace, name)
    for alias in wish["aliases"]:
        hub.checked_name(alias, "an alias")
    numbers = dict(map(metric, wish["metrics"]))
    with settings.connect() as client:
        about = hub.About(wish["version"], lineage=lineage_of(client, namespace, wish), metrics=numbers)
        if wish["dry_run"]:
            show_object(foreseen(client, folder, model, about), wish["output"] or "yaml")
            return
        with upload_bar(name) as tell:
            pushed = push_folder(client, folder, model, about, tell)
        version = pushed.version
        click.echo(f"modelversion/{version.name} pushed ({pushed.described.format})", err=True)
        if wish["wait"]:
            with waiting_line(version.name) as told:
                version = ready(client, version, wish["timeout"], told)
            for alias in aliases_to_move(client, model, wish["aliases"]):
                hub.move_alias(client, model, alias, version.name, why=wish["why"] or "pushed")
                click.echo(f"{name}@{alias} is {version.name}", err=True)
    if wish["output"]:
        show_object(version, wish["output"])
    else:
        click.echo(f"{version.name} is {version.status.phase.value}")


def aliases_to_move(client: Any, model: Key, asked: tuple[str, ...]) -> list[str]:
    """What was asked for; the very first version is the latest too."""
    first = not hub.ledger_of(client, model)
    return list(dict.fromkeys([*asked, *([hub.LATEST] if first else [])]))


def lineage_of(client: Any, namespace: str, wish: dict[str, Any]) -> Lineage:
    from ..api.sampleset import SampleSet

    data = client.find(SampleSet, namespace, wish["data"]) if wish["data"] else None
    said = {
        "sample_set": wish["data"],
        "sample_set_revision": data.status.revision if data else "",
        "paddle_job": wish["job"],
        "code": wish["code"],
    }
    return Lineage(**{key: value for key, value in said.items() if value})


def metric(text: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    try:
        if name and equals:
            return name, float(number)
    except ValueError:
        pass
    raise WrongUse(f"{text!r} is no metric", next_step="write it as accuracy=0.97")


@contextmanager
def upload_bar(name: str) -> Iterator[Any]:
    with bars_on(sys.stderr) as progress:
        task = progress.add_task(f"pushing {name}", total=None)

        def tell(step: Step) -> None:
            progress.update(task, completed=step.bytes, total=step.total_bytes)

        yield tell


@contextmanager
def waiting_line(name: str) -> Iterator[Any]:
    """What the cluster does with it, on a terminal."""
    with bars_on(sys.stderr) as progress:
        task = progress.add_task(f"{name}: verifying", total=None)

        def tell(version: ModelVersion) -> None:
            progress.update(task, description=f"{name}: {version.status.phase.value}")

        yield tell


@click.command()
@click.argument("reference", metavar="NAME[@ALIAS|@VERSION]")
@click.option("-o", "--output", "folder", required=True, type=click.Path(path_type=Path), help="Folder.")
@click.option("--format", "form", default="", help="Files of a conversion instead of the version's own.")
@namespace_option
@pass_settings
def pull(settings: Settings, /, reference: str, folder: Path, form: str, namespace: str) -> None:
    """Bring the files of a version into a folder, each verified; what is there already is kept."""
    with settings.connect() as client:
        version = hub.find_version(client, namespace, reference)
        with pull_bar(version) as moved:
            got = pull_version(client, version, folder, form=form, moved=moved)
    click.echo(f"{version.name} is in {folder}: {len(got.files)} files, {human(got.size)}, verified")


@contextmanager
def pull_bar(version: ModelVersion) -> Iterator[Moved]:
    with bars_on(sys.stderr) as progress:
        task = progress.add_task(f"pulling {version.name}", total=version.status.size or None)
        yield lambda count: progress.advance(task, count)


@click.command()
@click.argument("reference", metavar="NAME[@ALIAS|@VERSION]")
@click.option("--to", "form", required=True, type=click.Choice(sorted(FORMATS)), help="Format to make.")
@wait_option
@time_option
@namespace_option
@pass_settings
def convert(settings: Settings, /, reference: str, form: str, namespace: str, **wish: Any) -> None:
    """Make another format of a version, by a Job; `pull --format` brings it."""
    with settings.connect() as client:
        version = hub.find_version(client, namespace, reference)
        made = convert_version(client, version, form, wish["timeout"] if wish["wait"] else None)
    if made is None:
        click.echo(
            f"{version.name} will be there as {form}: pdc model show {version.spec.model}@{version.name}"
        )
    else:
        click.echo(f"{version.name} is there as {form}: {made.message}")


@click.command()
@click.argument("reference", metavar="NAME[@ALIAS|@VERSION]")
@click.option("--as", "label", default="", help="Folder of the version there [default: alias or text].")
@click.option("--endpoint", default=ENDPOINT, show_default=True, help="S3 server.")
@click.option("--secret", default=KEYS, show_default=True, help="NAMESPACE/NAME of the Secret with its keys.")
@namespace_option
@pass_settings
def publish(settings: Settings, /, reference: str, namespace: str, **wish: Any) -> None:
    """Lay a version where the steps of Paddle's pipelines look for it: a .tar.gz that anybody may read."""
    with settings.connect() as client:
        version = hub.find_version(client, namespace, reference)
        label = wish["label"] or reference.partition("@")[2] or hub.LATEST
        place = Place(wish["endpoint"], wish["secret"])
        click.echo(publish_version(client, version, label, place))


@click.command()
@dry_option
@namespace_option
@pass_settings
def gc(settings: Settings, /, namespace: str, dry_run: bool) -> None:
    """Free what the store of a namespace keeps for no version, a day after it came."""
    with settings.connect() as client:
        store = opened(client, namespace)
        found = unused(client, namespace, store, datetime.now(UTC))
    rows = [[item.key, human(item.size)] for item in found]
    if rows:
        lay_out(rows)
    if not dry_run:
        for item in found:
            store.remove(item.key)
    freed = human(sum(item.size for item in found))
    click.echo(f"{len(found)} objects, {freed} {'would be' if dry_run else 'were'} freed")
