"""`pdc logs`: of a pod, or of all pods that work for an object, together and told apart."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Queue
from typing import Any

import click

from ..api.core import Pod
from ..api.meta import Key
from ..cluster.requests import Place, Request, path_of
from ..errors import NotFound, PaddleCloudError, WrongUse
from ..sdk.client import Client
from ..sdk.joblines import LogWish
from ..sdk.keptlogs import Gone, kept_lines
from ..sdk.logfollowing import Look, Run, followed, look_at
from ..sdk.loglines import whole_lines
from .context import Settings, namespace_option, pass_settings
from .joblogs import COLOURS, follow_job, print_job
from .podpicking import containers_of, labelled, names_job, names_many, pods_meant

DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
WITH_SELECTOR = 10
"""Lines a pod when many are selected, as with kubectl."""


@dataclass(frozen=True)
class Source:
    pod: str
    container: str = ""


@click.command()
@click.argument("target", required=False)
@click.argument("container_name", required=False, metavar="[CONTAINER]")
@click.option("-f", "--follow", is_flag=True, help="Go on as the log grows.")
@click.option("--tail", type=click.IntRange(-1), default=None, help="Only the last lines; -1: all.")
@click.option("--since", default="", metavar="DURATION", help="Only what is newer, as 5s, 2m or 3h.")
@click.option("--since-time", default="", metavar="TIME", help="Only what is newer than a time (RFC 3339).")
@click.option("-p", "--previous", is_flag=True, help="Of the run before this one.")
@click.option("--timestamps", is_flag=True, help="With the time of each line.")
@click.option("--limit-bytes", type=click.IntRange(1), default=None, help="At most so many bytes.")
@click.option("-c", "--container", default="", help="Which container of the pod.")
@click.option("--all-containers", is_flag=True, help="Of all containers of the pod.")
@click.option("-l", "--selector", default="", help="Of the pods with these labels.")
@click.option("--role", type=click.Choice(["ps", "worker", "heter"]), help="Of these pods of a job only.")
@click.option("--prefix", is_flag=True, help="Say before each line where it is from.")
@namespace_option
@pass_settings
def logs(settings: Settings, /, target: str | None, namespace: str, **options: Any) -> None:
    """Print the log of a pod, or of all pods of `KIND/NAME` together.

    Logs outlive their pods: what is kept of one that is gone is printed, and said to be.
    """
    if bool(target) == bool(options["selector"]):
        raise WrongUse("name a pod, an object (KIND/NAME) or labels (-l)")
    options["container"] = options["container"] or options["container_name"] or ""
    query = query_of(options)
    if target is not None and names_job(target):
        query.pop("follow", None)
        wish = LogWish(options["role"] or "", options["container"], options["all_containers"], query)
        key = Key(namespace, target.partition("/")[2])
        (follow_job if options["follow"] else print_job)(settings, key, wish, options["prefix"])
        return
    if options["role"]:
        raise WrongUse("only a job has roles: pdc logs job/NAME --role ROLE")
    if options["follow"] and (target is None or names_many(target)):
        follow(settings, target or "", namespace, options)
        return
    with settings.connect() as client:
        sources = sources_of(client, target or "", namespace, options)
        if len(sources) == 1 and not options["prefix"]:
            print_one(client, sources[0], namespace, query)
            return
    together(settings, namespace, sources, query)


def print_one(client: Client, source: Source, namespace: str, query: dict[str, str]) -> None:
    """The log of one pod as it is, byte by byte; of one that is gone, what was kept."""
    try:
        for piece in client.text(request_of(source, namespace, query)):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except NotFound as missing:
        named = query | ({"container": source.container} if source.container else {})
        try:
            lines = list(kept_lines(client, Gone(namespace, source.pod), named))
        except NotFound:
            raise missing from None
        click.echo(f"pod {source.pod} is gone; this was kept of its log:", err=True)
        for line in lines:
            sys.stdout.buffer.write(line + b"\n")


def follow(settings: Settings, target: str, namespace: str, options: dict[str, Any]) -> None:
    """What the pods of an object say, also those that come later; one pod alone speaks without its name."""
    query = query_of(options)
    # What is wanted of the past is wanted of those who are there.
    later = {name: value for name, value in query.items() if name in ("follow", "timestamps")}

    def look() -> Look:
        with contextlib.suppress(NotFound):
            sources = sources_of(client, target, namespace, options | {"all_containers": False})
            pods = [pod for source in sources if (pod := client.find(Pod, namespace, source.pod)) is not None]
            return look_at(pods, options["container"], options["all_containers"])
        return Look((), False)

    def read(run: Run, first: bool) -> Iterator[bytes]:
        source = Source(run.pod, run.container)
        try:
            with settings.connect() as own:
                yield from whole_lines(own.text(request_of(source, namespace, query if first else later)))
        except PaddleCloudError as error:
            click.echo(f"error: {run.pod}: {error}", err=True)

    speakers: dict[Source, str] = {}
    with settings.connect() as client:
        sources_of(client, target, namespace, options)
        for run, line in followed(look, read, time.monotonic):
            source = Source(run.pod, run.container if options["all_containers"] else "")
            speakers.setdefault(source, COLOURS[len(speakers) % len(COLOURS)])
            text = line.decode(errors="replace")
            named = options["prefix"] or len(speakers) > 1
            click.echo(f"{placed(source, speakers[source])} {text}" if named else text)


def placed(source: Source, colour: str) -> str:
    place = f"[pod/{source.pod}/{source.container}]" if source.container else f"[pod/{source.pod}]"
    return click.style(place, fg=colour)


def sources_of(client: Client, target: str, namespace: str, options: dict[str, Any]) -> list[Source]:
    selector = options["selector"]
    pods = labelled(client, selector, namespace) if selector else pods_meant(client, target, namespace)
    if not pods:
        raise NotFound(f"no pod has the labels {selector} in namespace {namespace}")
    if not options["all_containers"]:
        return [Source(pod, options["container"]) for pod in pods]
    return [Source(pod, c) for pod in pods for c in containers_of(client, pod, namespace, init=True)]


def together(settings: Settings, namespace: str, sources: list[Source], query: dict[str, str]) -> None:
    """All at once, line by line; one that cannot be read does not hide the others."""
    lines: Queue[tuple[Source, bytes] | None] = Queue(1000)

    def read(source: Source) -> None:
        try:
            with settings.connect() as client:
                for line in whole_lines(client.text(request_of(source, namespace, query))):
                    lines.put((source, line))
        except PaddleCloudError as error:
            click.echo(f"error: {source.pod}: {error}", err=True)
        finally:
            lines.put(None)

    for source in sources:
        threading.Thread(target=read, args=(source,), daemon=True).start()
    colours = {source: COLOURS[n % len(COLOURS)] for n, source in enumerate(sources)}
    running = len(sources)
    while running:
        told = lines.get()
        if told is None:
            running -= 1
            continue
        source, line = told
        click.echo(f"{placed(source, colours[source])} {line.decode(errors='replace')}")


def request_of(source: Source, namespace: str, query: dict[str, str]) -> Request:
    path = path_of(Place("v1", "pods"), Key(namespace, source.pod), "log")
    named = {"container": source.container} if source.container else {}
    return Request("GET", path, tuple((query | named).items()), {"Accept": "*/*"})


def query_of(options: dict[str, Any]) -> dict[str, str]:
    tail = options["tail"]
    if tail is None and options["selector"]:
        tail = WITH_SELECTOR
    said = {
        "follow": "true" if options["follow"] else "",
        "tailLines": "" if tail is None or tail < 0 else str(tail),
        "sinceSeconds": str(seconds(options["since"])) if options["since"] else "",
        "sinceTime": options["since_time"],
        "previous": "true" if options["previous"] else "",
        "timestamps": "true" if options["timestamps"] else "",
        "limitBytes": str(options["limit_bytes"] or ""),
    }
    if said["sinceSeconds"] and said["sinceTime"]:
        raise WrongUse("at most one of --since and --since-time can be used")
    return {name: value for name, value in said.items() if value}


def seconds(duration: str) -> int:
    found = DURATION.fullmatch(duration)
    if not found or not any(found.groups()):
        raise WrongUse(f"{duration!r} is no duration: write 5s, 2m or 1h30m")
    hours, minutes, rest = (int(text or 0) for text in found.groups())
    return hours * 3600 + minutes * 60 + rest
