"""Events: what happened to an object, told once and then counted.

The name of an event follows from what it says, so the same sentence said again raises a count instead
of filling the list.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

from .. import log
from ..api.core import Event
from ..api.meta import Key, Metadata, Resource
from ..cluster.client import Client
from ..errors import AlreadyExists, NotFound, PaddleCloudError
from .contract import Note

LONGEST_MESSAGE = 1024
LONGEST_NAME = 253
REMEMBERED = 4096
TOLD: dict[Key, int] = {}
"""How often each of the last events was told, which saves asking the server; its name has the uid in it."""


async def record(client: Client, obj: Resource, note: Note, component: str, now: datetime) -> None:
    """Tell *note* of *obj*; an event that cannot be written is logged and never stops the work."""
    event = event_of(obj, note, component, now)
    try:
        count = TOLD.get(event.key, 0)
        if count:
            try:
                count += 1
                await counted(client, event, count)
            except NotFound:
                count = 0  # they do not last for ever
        if not count:
            try:
                await client.create(event)
                count = 1
            except AlreadyExists:
                count = (await client.get(Event, event.namespace, event.name)).count + 1
                await counted(client, event, count)
        remember(event.key, count)
    except PaddleCloudError as error:
        line = log.for_object(f"controllers.{component}", obj.kind, obj.namespace, obj.name)
        line.warning("event %s not recorded: %s", note.reason, error.message)


async def counted(client: Client, event: Event, count: int) -> None:
    await client.patch(Event, event.key, {"count": count, "lastTimestamp": event.last_timestamp})


def remember(event: Key, count: int) -> None:
    TOLD.pop(event, None)
    while len(TOLD) >= REMEMBERED:
        TOLD.pop(next(iter(TOLD)))
    TOLD[event] = count


def event_of(obj: Resource, note: Note, component: str, now: datetime) -> Event:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    said = "\0".join((obj.uid, note.type, note.reason, note.message))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    return Event(
        # Events of objects that live in no namespace are kept in `default`; the server insists on it.
        metadata=Metadata(
            name=f"{obj.name[: LONGEST_NAME - len(digest) - 1]}.{digest}",
            namespace=obj.namespace or "default",
        ),
        involved_object={k: v for k, v in obj.reference().items() if v},
        type=note.type,
        reason=note.reason,
        message=note.message[:LONGEST_MESSAGE],
        source={"component": component},
        count=1,
        first_timestamp=stamp,
        last_timestamp=stamp,
    )
