"""`pdc data`: data sets and what is done with them, each an object that kubectl shows too."""

from __future__ import annotations

import json
import secrets as chance
import sys
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from ..api.meta import Key, Resource
from ..api.samplejob import SampleJob, SampleJobPhase
from ..api.sampleset import SampleSet, SampleSetPhase
from ..cluster.requests import Scope
from ..errors import Failed, NotFound
from ..sdk.client import Client
from ..sdk.datajobs import job_name, make_job, make_set
from ..sdk.datasharing import sharers
from ..sdk.sampleset import settled
from ..sdk.waiting import wait_for, wait_until_gone
from .context import Settings, namespace_option, pass_settings
from .dataforecast import forecast, report
from .live import words
from .output import lay_out, print_objects, without_noise

LONGEST = 24 * 3600.0
TROUBLES = ("SyncFailed", "WaitingForSecret", "NameTaken", "EngineMissing")
dry_option = click.option("--dry-run", is_flag=True, help="Only print the object that would be made.")
form_option = click.option(
    "-o", "--output", type=click.Choice(["json", "yaml", "name"]), help="Form of what is printed."
)
wait_option = click.option("--wait/--no-wait", default=True, show_default=True, help="Follow it to its end.")
time_option = click.option("--timeout", type=float, default=LONGEST, help="Seconds to follow; it goes on.")


@click.group()
def data() -> None:
    """Data sets: add, look, forecast, warm, sync, clear, remove."""


for more in (forecast, report):
    data.add_command(more)


@data.command()
@click.argument("uri")
@click.option("--name", required=True, help="Name of the SampleSet.")
@click.option("--secret", default="", help="Secret with the keys of the source.")
@click.option(
    "--partitions", type=click.IntRange(1), default=1, show_default=True, help="Nodes that cache it."
)
@click.option("--engine", type=click.Choice(["auto", "juicefs", "local"]), default="auto", show_default=True)
@dry_option
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def add(settings: Settings, /, uri: str, name: str, namespace: str, **wish: Any) -> None:
    """Make a SampleSet of the data at URI and wait until every file is there and verified."""
    source = {key: wish[key] for key in ("secret", "partitions", "engine")}
    made = make_set(Key(namespace, name), uri, **source)
    carry_out(settings, made, wish)


@data.command("ls")
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table")
@namespace_option
@pass_settings
def list_sets(settings: Settings, /, namespace: str, output: str) -> None:
    """The data sets of a namespace."""
    with settings.connect() as client:
        if output != "table":
            items = client.list_raw(SampleSet, Scope(namespace)).items
            print_objects(items, output, single=False)
            return
        sets = client.list(SampleSet, namespace).items
    rows = [["NAME", "TOTAL SIZE", "CACHED SIZE", "AVAIL SPACE", "RUNTIME", "PHASE"]]
    lay_out([*rows, *(row_of(found) for found in sets)])


def row_of(found: SampleSet) -> list[str]:
    cache, runtime = found.status.cache_status, found.status.runtime_status
    sizes = [cache.total_size, cache.cached_size, cache.disk_avail] if cache else ["", "", ""]
    return [found.name, *sizes, runtime.runtime_ready if runtime else "", found.status.phase.value]


@data.command()
@click.argument("name")
@form_option
@namespace_option
@pass_settings
def show(settings: Settings, /, name: str, namespace: str, output: str | None) -> None:
    """One data set: its source, its engine, its partitions one by one, and what it waits for."""
    with settings.connect() as client:
        found = client.get(SampleSet, namespace, name)
        shared = [] if output else sharers(found, client.list(SampleSet, namespace).items)
    if output:
        show_object(found, output)
        return
    cache, source = found.status.cache_status, found.spec.source
    lines = [
        ["name", f"{namespace}/{name}"],
        ["source", source.uri if source else ""],
        ["engine", found.status.engine],
        ["phase", found.status.phase.value or "new"],
        ["files", cache.total_files if cache else ""],
        ["size", f"{cache.total_size}, {cache.cached_size} cached" if cache else ""],
        ["revision", found.status.revision],
        [
            "same files",
            f"as {', '.join(shared)}; csi.juiceFSMountOptions.sub-dir parts them" if shared else "",
        ],
    ]
    lay_out([line for line in lines if line[1]])
    for part in cache.partitions if cache else ():
        state = ", ".join(filter(None, [part.phase or "silent", part.message, f"{part.cached_size} cached"]))
        click.echo(f"  {part.name} on {part.node}: {state}")
    for condition in found.status.conditions:
        if condition.status == "False" and condition.message:
            click.echo(f"  {condition.reason}: {condition.message}")


@data.command()
@click.argument("name")
@click.argument("paths", nargs=-1)
@click.option("--strategy", type=click.Choice(["sequence", "random"]), default="sequence", show_default=True)
@click.option("--batch-size", type=click.IntRange(1), help="Of the training that will read it.")
@click.option("--epoch", type=click.IntRange(0), help="Of the training that will read it.")
@click.option("--threads", type=click.IntRange(1), help="Files at a time.")
@click.option("--bwlimit", type=click.IntRange(0), default=0, help="Megabits a second.")
@click.option("--ahead-of", default="", help="PaddleJob: load each next epoch's files while it trains.")
@dry_option
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def warm(settings: Settings, /, name: str, paths: tuple[str, ...], namespace: str, **wish: Any) -> None:
    """Load a data set into the caches of its nodes."""
    options = {
        "paths": list(paths),
        "strategyName": wish["strategy"],
        "batchSize": wish["batch_size"],
        "epoch": wish["epoch"],
        "threads": wish["threads"],
        "bwlimit": wish["bwlimit"],
        "ahead": {"job": wish["ahead_of"]} if wish["ahead_of"] else None,
    }
    if wish["ahead_of"]:
        options["strategyName"], wish["wait"] = "random", False
    begin(settings, "warmup", Key(namespace, name), options, wish)


@data.command()
@click.argument("name")
@click.option("--from", "source", default="", help="Where to read from [default: the source of the set].")
@click.option("--secret", default="", help="Secret with the keys of that source.")
@click.option("--delete", is_flag=True, help="Delete what the source does not have.")
@click.option("--bwlimit", type=click.IntRange(0), default=0, help="Megabits a second.")
@click.option("--schedule", default="", help="Again and again, as in a crontab.")
@dry_option
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def sync(settings: Settings, /, name: str, namespace: str, **wish: Any) -> None:
    """Copy what changed at the source."""
    options = {"source": wish["source"], "delete-dst": wish["delete"], "bwlimit": wish["bwlimit"]}
    secret = {"name": wish["secret"]} if wish["secret"] else {}
    more = {"secretRef": secret, "schedule": wish["schedule"]}
    if wish["schedule"]:
        wish["wait"] = False
    begin(settings, "sync", Key(namespace, name), options, wish, **more)


@data.command()
@click.argument("name")
@dry_option
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def clear(settings: Settings, /, name: str, namespace: str, **wish: Any) -> None:
    """Empty the caches of a data set; the data itself stays."""
    begin(settings, "clear", Key(namespace, name), {}, wish)


@data.command()
@click.argument("name")
@click.argument("paths", nargs=-1)
@dry_option
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def rm(settings: Settings, /, name: str, paths: tuple[str, ...], namespace: str, **wish: Any) -> None:
    """Remove PATHS from a data set, or without PATHS the set itself; its source stays as it is."""
    if paths:
        begin(settings, "rmr", Key(namespace, name), {"paths": list(paths)}, wish)
        return
    if wish["dry_run"]:
        click.echo(f"sampleset/{name} would be deleted")
        return
    with settings.connect() as client:
        client.delete(SampleSet, Key(namespace, name))
        if wish["wait"]:
            wait_until_gone(client, SampleSet, Key(namespace, name), wish["timeout"])
    click.echo(f"sampleset/{name} deleted")


@data.command()
@click.argument("name")
@click.option("--limit", type=click.IntRange(1), default=1000, show_default=True, help="Files to list.")
@namespace_option
@pass_settings
def mount(settings: Settings, /, name: str, namespace: str, limit: int) -> None:
    """A look at the files of a data set, where a node of this machine holds them."""
    with settings.connect() as client:
        found = client.get(SampleSet, namespace, name)
    parts = found.status.cache_status.partitions if found.status.cache_status else []
    for part in parts:
        folder = settings.home.disk(part.node) / "samplesets" / namespace / name / "data"
        if folder.is_dir():
            click.echo(f"{folder}:")
            list_files(folder, limit)
            return
    raise NotFound(
        f"no node of this machine holds files of SampleSet {namespace}/{name}",
        next_step=f"look through its runtime: pdc exec {name}-runtime-0 -- ls -R /sampleset/data",
    )


def list_files(folder: Path, limit: int) -> None:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files[:limit]:
        click.echo(f"  {on_a_line(str(path.relative_to(folder)))}")
    if len(files) > limit:
        click.echo(f"… and {len(files) - limit} more")


def on_a_line(name: str) -> str:
    """A name with what would break the line, or move the cursor, as Python writes it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def begin(
    settings: Settings, kind: str, key: Key, options: dict[str, Any], wish: dict[str, Any], **spec: Any
) -> None:
    name = job_name(key.name, kind, chance.token_hex(3))
    if not wish["dry_run"]:
        with settings.connect() as client:
            # A job of a manifest waits for its set; who types a name wants to know that it is wrong.
            client.get(SampleSet, *key)
    carry_out(settings, make_job(kind, key, name, options, **spec), wish)


def carry_out(settings: Settings, made: SampleSet | SampleJob, wish: dict[str, Any]) -> None:
    """Make it, or with --dry-run only show it; then follow it."""
    if wish["dry_run"]:
        show_object(made, wish["output"] or "yaml")
        return
    with settings.connect() as client:
        created = client.create(made)
        if wish["output"]:
            show_object(created, wish["output"])
        else:
            click.echo(f"{made.kind.lower()}/{made.name} created")
        if wish["wait"]:
            watch(client, created, wish["timeout"])


def watch(client: Client, made: SampleSet | SampleJob, timeout: float) -> None:
    """A bar until it has ended; raises `Failed` with its words."""
    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(made.name, total=None)
        said = ""

        def tell(state: SampleSet | SampleJob) -> None:
            nonlocal said
            # It is tried again by itself for as long as it takes: who waits is to know why.
            if (why := trouble(state)) and why != said:
                said = why
                click.echo(f"{made.name}: {why}", err=True)
            told = state.status.progress
            text = words(told) if told else state.status.phase.value
            bars.update(task, description=f"{made.name} {text}")
            if told and told.total:
                bars.update(task, completed=told.done, total=told.total)

        if isinstance(made, SampleSet):
            data = wait_for(client, SampleSet, made.key, settled, timeout, tell)
            good = data.status.phase is SampleSetPhase.READY
            phase, conditions = data.status.phase.value, data.status.conditions
        else:
            job = wait_for(client, SampleJob, made.key, lambda j: j.status.phase.final, timeout, tell)
            good = job.status.phase is SampleJobPhase.SUCCEEDED
            phase, conditions = job.status.phase.value, job.status.conditions
    if not good:
        why = next((c.message for c in conditions if c.message), "no reason was given")
        raise Failed(f"{made.name} is {phase}: {why}", next_step=f"pdc why {made.kind.lower()}/{made.name}")
    click.echo(f"{made.name} is {phase}", err=True)


def trouble(state: SampleSet | SampleJob) -> str:
    """What keeps it, where that is more than waiting for its turn."""
    kept = (c for c in state.status.conditions if c.status == "False" and c.reason in TROUBLES)
    return max((c.message for c in kept), key=len, default="")


def show_object(obj: Resource, form: str) -> None:
    body = without_noise(obj.wire())
    if form == "name":
        click.echo(f"{obj.kind.lower()}/{obj.name}")
    elif form == "json":
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        click.echo(yaml.safe_dump(body, sort_keys=False, allow_unicode=True).rstrip())
