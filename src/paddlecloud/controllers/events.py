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
REMEMBERED = 1024


class Events:
    """Tells what happens to objects, in the name of *component*.

    How often each of the last events was told is remembered: to count it up once more nobody has to be asked.
    """

    def __init__(self, client: Client, component: str, remembered: int = REMEMBERED) -> None:
        self._client, self._component, self._remembered = client, component, remembered
        self.told: dict[Key, int] = {}
        """By the names of events, which follow from the uid of their object and from what they say."""

    async def record(self, obj: Resource, note: Note, now: datetime) -> None:
        """Tell *note* of *obj*; an event that cannot be written is logged and never stops the work."""
        event = event_of(obj, note, self._component, now)
        try:
            self._remember(event.key, await self._counted(event) or await self._made(event))
        except PaddleCloudError as error:
            line = log.for_object(f"controllers.{self._component}", obj.kind, obj.namespace, obj.name)
            line.warning("event %s not recorded: %s", note.reason, error.message)

    async def _counted(self, event: Event) -> int:
        """How often it has been told now; 0: it is not known, or gone, for they do not last for ever."""
        if event.key not in self.told:
            return 0
        try:
            return await self._count(event, self.told[event.key] + 1)
        except NotFound:
            return 0

    async def _made(self, event: Event) -> int:
        try:
            await self._client.create(event)
            return 1
        except AlreadyExists:
            before = await self._client.get(Event, event.namespace, event.name)
            return await self._count(event, before.count + 1)

    async def _count(self, event: Event, count: int) -> int:
        again = {"count": count, "lastTimestamp": event.last_timestamp}
        await self._client.patch(Event, event.key, again)
        return count

    def _remember(self, event: Key, count: int) -> None:
        self.told.pop(event, None)
        self.told[event] = count
        if len(self.told) > self._remembered:
            self.told.pop(next(iter(self.told)))


async def record(client: Client, obj: Resource, note: Note, component: str, now: datetime) -> None:
    """Tell one note by itself; for many see `Events`."""
    await Events(client, component).record(obj, note, now)


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
