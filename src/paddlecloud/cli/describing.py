"""`pdc describe`: all that is known of an object, for people: what it is, how it is, what happened to it.

The facts are fetched first; what is said is a pure function of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import click
import yaml

from ..api.core import Event, Pod
from ..api.meta import Key, Progress
from ..cluster.requests import Scope
from ..sdk.client import Client
from ..sdk.discovery import holder, served
from .context import Settings, namespace_option, pass_settings
from .live import words
from .objects import parts, synonym
from .output import aligned
from .why import state

Body = dict[str, Any]
HIDDEN = ("kubectl.kubernetes.io/last-applied-configuration",)
ROLES = ("ps", "worker", "heter")
COUNTS = ("pending", "starting", "running", "succeeded", "failed", "unknown")
WIDTH = 14


@click.command()
@click.argument("target", metavar="KIND/NAME")
@click.argument("name", required=False)
@namespace_option
@pass_settings
def describe(settings: Settings, target: str, name: str | None, namespace: str) -> None:
    """Say all that is known of an object, with its events in order."""
    typed, named = (target, name) if name else parts(target)
    with settings.connect() as client:
        kind, body = holder(client, served(client), synonym(typed), Key(namespace, named))
        body = {**body, "kind": kind.kind}
        inside = str(body["metadata"].get("namespace") or "")
        click.echo("\n".join(described(body, pods_of(client, body, inside), events_of(client, body, inside))))


def pods_of(client: Client, body: Body, namespace: str) -> list[Pod]:
    uid = body["metadata"]["uid"]
    return [pod for pod in client.list(Pod, namespace).items if pod.controlled_by() == uid]


def events_of(client: Client, body: Body, namespace: str) -> list[Event]:
    of = {"involvedObject.uid": body["metadata"]["uid"]}
    return [Event.read(item) for item in client.list_raw(Event, Scope(namespace, fields=of)).items]


def described(body: Body, pods: Iterable[Pod], events: Iterable[Event]) -> Iterator[str]:
    """The lines about an object; a PaddleJob is told as what it is, everything else by its fields."""
    metadata = body["metadata"]
    yield field("Name", metadata["name"])
    if metadata.get("namespace"):
        yield field("Namespace", metadata["namespace"])
    yield field("Kind", f"{body['kind']} ({body.get('apiVersion', '')})")
    for name, values in (("Labels", metadata.get("labels")), ("Annotations", metadata.get("annotations"))):
        shown = [f"{k}={v}" for k, v in sorted((values or {}).items()) if k not in HIDDEN]
        yield from listed(name, shown)
    yield field("Created", metadata.get("creationTimestamp") or "")
    yield from (job(body) if body["kind"] == "PaddleJob" else plain(body))
    yield from conditions(body)
    if found := sorted(pods, key=lambda pod: pod.name):
        yield "Pods:"
        rows = [[pod.name, pod.phase or "Pending", pod.node, pod.status.get("podIP", "")] for pod in found]
        yield from ("  " + line for line in aligned(rows))
    yield from happened(events)


def job(body: Body) -> Iterator[str]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    yield field("Status", state(body))
    yield field("Mode", status.get("mode") or "")
    if spec.get("suspend"):
        yield field("Suspended", "yes")
    if data := (spec.get("sampleSetRef") or {}).get("name"):
        yield field("Data", f"sampleset/{data} at {spec['sampleSetRef'].get('mountPath', '')}")
    for name, text in (("Started", "startTime"), ("Ended", "completionTime"), ("Restarts", "restarts")):
        if status.get(text):
            yield field(name, str(status[text]))
    if status.get("progress"):
        yield field("Progress", words(Progress.model_validate(status["progress"])))
    for role in (role for role in ROLES if spec.get(role)):
        told = status.get(role) or {}
        counts = ", ".join(f"{told[name]} {name}" for name in COUNTS if told.get(name))
        name = role.upper() if role == "ps" else role.title()
        yield field(name, f"{told.get('ready', '')}  {counts}".strip())
        for container in ((spec[role].get("template") or {}).get("spec") or {}).get("containers") or ():
            command = " ".join(map(str, (*(container.get("command") or ()), *(container.get("args") or ()))))
            yield f"  {container.get('name', '')}: {container.get('image', '')}  {command}".rstrip()[:200]


def plain(body: Body) -> Iterator[str]:
    if body["kind"] == "Secret":
        yield from listed("Data", [f"{k}: {len(v)} characters" for k, v in (body.get("data") or {}).items()])
        return
    for name, text in (body.get("data") or {}).items():
        yield f"Data {name}:"
        yield from (f"  {line}" for line in str(text).splitlines())
    for part in ("spec", "status"):
        if told := {k: v for k, v in (body.get(part) or {}).items() if k != "conditions"}:
            yield f"{part.title()}:"
            dumped = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=200)
            yield from (f"  {line}" for line in dumped.splitlines())


def conditions(body: Body) -> Iterator[str]:
    found = (body.get("status") or {}).get("conditions") or ()
    if not found:
        return
    yield "Conditions:"
    columns = ("type", "status", "reason", "lastTransitionTime")
    said: set[str] = set()
    rows = [[str(condition.get(column) or "") for column in columns] for condition in found]
    for line, condition in zip(aligned(rows), found, strict=True):
        yield f"  {line}"
        message = str(condition.get("message") or "")
        yield from (f"      {text}" for text in message.splitlines() if message not in said)
        said.add(message)


def happened(events: Iterable[Event]) -> Iterator[str]:
    """In the order in which it happened."""
    found = sorted(events, key=lambda event: (moment(event), version(event)))
    if not found:
        return
    yield "Events:"
    rows = [
        [moment(e), e.type, e.reason, f"x{e.count}" if e.count > 1 else "", e.message.partition("\n")[0]]
        for e in found
    ]
    yield from (f"  {line}" for line in aligned(rows))


def version(event: Event) -> int:
    """Times are whole seconds; within one, versions grow."""
    told = event.metadata.resource_version
    return int(told) if told.isdecimal() else 0


def moment(event: Event) -> str:
    told = event.last_timestamp or event.metadata.creation_timestamp or ""
    return told.isoformat() if isinstance(told, datetime) else str(told)


def listed(name: str, values: list[str]) -> Iterator[str]:
    for number, value in enumerate(values):
        yield field(name if not number else "", value)


def field(name: str, value: str) -> str:
    return f"{name + ':' if name else '':<{WIDTH}}{value}".rstrip()
