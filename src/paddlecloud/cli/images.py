"""`pdc image`: what image names stand for here, and how more of them come and go."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from ..embedded.node import suites
from ..errors import NotFound, PaddleCloudError, WrongUse
from ..images import archives, garbage, layout, names, resolving, sweeping
from ..images.credentials import EMPTY, Keyring, keyring
from ..images.layout import Entry, Store
from ..images.steps import Report
from ..sizes import size
from .bars import bar, bars
from .context import Settings, pass_settings
from .output import lay_out

form = click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)


@click.group()
def image() -> None:
    """Images: list, import, pull, build, remove."""


@image.command("ls")
@form
@pass_settings
def list_images(settings: Settings, output: str) -> None:
    """Show which image names are answered here, and by what."""
    store = Store(settings.home.images)
    answering = resolving.by_place(suites.all_suites(suites.folders()))
    rows: list[dict[str, Any]] = [
        {
            "image": names.parse(place).short_place,
            "from": "suite",
            "answers": suite.name,
            "digest": "",
            "size": None,
        }
        for place, suite in answering.items()
    ]
    rows += [row_of(store, entry) for entry in store.entries() if entry.name]
    if output == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    shown = [
        [r["image"], r["from"], r["answers"], r["digest"][:19], size(r["size"]) if r["size"] else ""]
        for r in rows
    ]
    lay_out([["IMAGE", "FROM", "ANSWERS", "DIGEST", "SIZE"], *shown])


def row_of(store: Store, entry: Entry) -> dict[str, Any]:
    try:
        total: int | None = store.manifest(entry.manifest.digest).size
        answers = "image"
    except PaddleCloudError as error:
        total, answers = None, f"broken: {error.message}"
    return {
        "image": names.parse(entry.name).short,
        "from": entry.source,
        "answers": answers,
        "digest": entry.manifest.digest,
        "size": total,
    }


@image.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--name", default=None, help="Name for the image [default: the one the archive gives it].")
@pass_settings
def import_images(settings: Settings, files: tuple[Path, ...], name: str | None) -> None:
    """Take in OCI archives or folders, or what `docker save` wrote."""
    settings.home.make()
    store = Store(settings.home.images)
    for path in files:
        if not path.exists():
            raise WrongUse(f"there is no {path}")
        with bar(f"import {path.name}") as advance:
            taken = archives.load(store, path, names.parse(name) if name else None, advance)
        for one in taken:
            click.echo(f"{names.parse(one.name).short} {one.digest}")


@image.command()
@click.argument("name")
@click.option("--login", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=None,
              help="Docker configuration with credentials, as in ~/.docker/config.json.")  # fmt: skip
@pass_settings
def pull(settings: Settings, name: str, login: Path | None) -> None:
    """Fetch an image from its registry and unpack it."""
    # HTTP is imported only by the command that needs it.
    from ..images.obtaining import unpacked
    from ..images.pulling import pull as fetch

    settings.home.make()
    store, wanted = Store(settings.home.images), names.parse(name)
    known = keyring([{".dockerconfigjson": login.read_bytes()}]) if login else EMPTY

    async def work(report: Report, who: Keyring) -> Entry:
        entry = await fetch(store, wanted, who, report)
        await unpacked(store, name, entry, report)
        return entry

    with bars() as report:
        entry = asyncio.run(work(report, known))
    click.echo(f"{wanted.short} {entry.manifest.digest}")


@image.command()
@click.argument("name")
@form
@pass_settings
def show(settings: Settings, name: str, output: str) -> None:
    """Show how an image wants to be run, and what it is made of."""
    store = Store(settings.home.images)
    known = resolving.Known(resolving.by_place(suites.all_suites(suites.folders())), store.entries())
    report = description(store, name, known)
    if output == "json":
        click.echo(json.dumps(report, indent=2))
        return
    for key, value in report.items():
        lines = value if isinstance(value, list) else [value]
        for number, line in enumerate(lines):
            click.echo(f"{key if not number else '':<12} {line}")


def description(store: Store, name: str, known: resolving.Known) -> dict[str, Any]:
    wanted = names.parse(name)
    if wanted.place in known.suites:
        suite = known.suites[wanted.place]
        env = [f"{k}={v}" for k, v in suite.says.env.items()]
        return {
            "image": wanted.short,
            "suite": suite.name,
            "entrypoint": list(suite.says.entrypoint),
            "cmd": list(suite.says.cmd),
            "env": env,
        }
    entry = resolving.present(wanted, known.entries)
    if entry is None:
        raise NotFound(f"no image {name} is here", next_step=resolving.advice(wanted, known))
    manifest = store.manifest(entry.manifest.digest)
    config = store.config(manifest)
    return {
        "image": wanted.short,
        "from": entry.source,
        "digest": entry.manifest.digest,
        "size": manifest.size,
        "entrypoint": list(config.entrypoint),
        "cmd": list(config.cmd),
        "env": [f"{k}={v}" for k, v in config.env.items()],
        "workdir": config.working_dir,
        "user": config.user,
        "ports": list(config.exposed_ports),
        "layers": [f"{layer.digest} {layer.size}" for layer in manifest.layers],
        "notes": notes(store, config.diff_ids),
    }


def notes(store: Store, diff_ids: tuple[str, ...]) -> list[str]:
    """What was left away when the layers were unpacked."""
    trees = [store.tree(diff_id) for diff_id in diff_ids]
    found = [layout.note(tree).get("notes") for tree in trees if (tree / "layer.json").exists()]
    return [str(text) for texts in found if isinstance(texts, list) for text in texts]


@image.command()
@click.argument("wanted", nargs=-1, required=True, metavar="NAME...")
@click.option("--force", is_flag=True, help="Also when a pod names it.")
@pass_settings
def rm(settings: Settings, wanted: tuple[str, ...], force: bool) -> None:
    """Remove images, and what no other image needs of them."""
    store = Store(settings.home.images)
    known, going = resolving.Known(entries=store.entries()), set()
    for name in wanted:
        entry = resolving.present(names.parse(name), known.entries)
        if entry is None:
            raise NotFound(f"no image {name} is here", next_step=resolving.advice(names.parse(name), known))
        going.add(entry.name)
    free = set(garbage.unused(known.entries, images_of_pods(settings), everything=True))
    if going - free and not force:
        raise WrongUse(
            f"pods use {', '.join(sorted(names.parse(n).short for n in going - free))}: nothing was removed",
            next_step="delete the pods first, or take --force",
        )
    removed = sweeping.sweep(store, going)
    for name in removed.names:
        click.echo(f"removed {names.parse(name).short}")
    click.echo(f"{size(removed.size)} freed")


@image.command()
@click.option("--all", "everything", is_flag=True, help="Imported images too.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@pass_settings
def prune(settings: Settings, everything: bool, dry_run: bool, yes: bool) -> None:
    """Remove the images that no pod uses."""
    store = Store(settings.home.images)
    going = garbage.unused(store.entries(), images_of_pods(settings), everything=everything)
    planned = sweeping.plan(store, going)
    for name in planned.names:
        click.echo(f"{'would remove' if dry_run else 'removes'} {names.parse(name).short}")
    if dry_run:
        click.echo(f"{size(planned.size)} would be freed")
        return
    if planned.names and not yes:
        click.confirm(f"Remove {len(planned.names)} images ({size(planned.size)})?", abort=True)
    click.echo(f"{size(sweeping.sweep(store, going).size)} freed")


def images_of_pods(settings: Settings) -> set[str]:
    """The images that the pods of the home's cluster name; none when it does not run."""
    from ..api.core import Pod
    from . import clusters

    if not clusters.state(settings.home).running:
        return set()
    with settings.connect() as client:
        pods = client.list(Pod).items
    parts = ("initContainers", "containers", "ephemeralContainers")
    return {str(c.get("image")) for pod in pods for part in parts for c in pod.spec.get(part) or ()}


@image.command()
@click.argument("suite")
@click.option(
    "-o",
    "--output",
    "to",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The archive.",
)
@click.option(
    "--base", default=None, metavar="NAME|ARCHIVE", help="Image to stand on [default: a minimal root]."
)
@click.option("--name", default=None, help="Name in the archive [default: the suite's first].")
@pass_settings
def build(settings: Settings, suite: str, to: Path, base: str | None, name: str | None) -> None:
    """Make an OCI archive of a SUITE (a name or a folder) without a daemon."""
    from .building import build_suite

    if not to.absolute().parent.is_dir():
        raise WrongUse(f"there is no folder {to.absolute().parent}")
    settings.home.make()
    built = build_suite(settings.home, suite, to, base, name)
    click.echo(f"{to} {size(built.size)}, {built.layers} layers, {built.digest}")
