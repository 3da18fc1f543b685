"""Carries out what was decided for one object, in one pass.

Safe to be killed between any two writes: finalizers are added before anything they guard is made and
removed after everything else; the status tells what was seen, so it does not depend on the writes. One
write that fails does not stop the others; what went wrong is kept for the end.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from .. import log
from ..api.core import Secret
from ..api.meta import Metadata, Resource, Value
from ..cluster.client import Client
from ..errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    NotFound,
    PaddleCloudError,
    ServerError,
    Timeout,
    TooManyRequests,
    Unavailable,
)
from .contract import Controller, Deed, Ending, Note, Plan, Token, Update, identity
from .expectations import Expectations
from .ownership import adopted, left_behind, owner_uid
from .statuses import status_patch

T = TypeVar("T")

AT_ONCE = 8
"""Writes under way for one object."""
PASSING = (Conflict, TooManyRequests, Unavailable, Timeout, ServerError)
"""Refusals that say nothing about the object itself; a user need not hear of them."""
LOOK_FOR_NAME = 30.0
LOOK_FOR_REMOVAL = 1.0


class Writes:
    """The writes of one pass; `errors`, `notes` and `again` tell afterwards how they went."""

    def __init__(
        self, controller: Controller, client: Client, owner: Resource, expected: Expectations, now: float
    ) -> None:
        self.owner = owner
        """As it is after the last write to it."""
        self.errors: list[PaddleCloudError] = []
        self.notes: list[Note] = []
        """What a user should know about the writes to children."""
        self.refused: list[str] = []
        """Why children could not be made."""
        self.again: float | None = None
        """Seconds until a look is worth while, because something outside has to happen first."""
        self.made = 0
        self._client, self._expected, self._now = client, expected, now
        self._key, self._tells = owner.key, controller.tells
        self._log = log.for_object(f"controllers.{controller.name}", owner.kind, owner.namespace, owner.name)

    async def add_finalizers(self, wanted: tuple[str, ...] | None) -> None:
        """Raises when it cannot: nothing that needs the finalizer may be made then."""
        have = self.owner.metadata.finalizers
        missing = [f for f in wanted or () if f not in have]
        # A server refuses new finalizers on an object that is being deleted.
        if missing and self.owner.metadata.deletion_timestamp is None:
            await self._patch_owner({"metadata": {"finalizers": [*have, *missing]}})
            self._wrote("added the finalizer %s", ", ".join(missing))

    async def children(self, plan: Plan, reasons: Mapping[Any, str]) -> None:
        """Deletes, creates, updates, in this order; *reasons* tells why a child that holds data goes.

        Writes of one sort need not wait for each other: no decision may lean on their order.
        """
        await self._each(plan.delete, lambda child: self._delete(child, reasons.get(identity(child), "")))
        await self._each(plan.create, lambda child: self._create(adopted(child, self.owner)))
        await self._each(plan.update, self._update)

    async def needs(self, wanted: tuple[Resource, ...]) -> None:
        """Make what the children will use; whoever made it before is as good."""
        for obj in wanted:
            await self._attempt(self._provide(obj))

    async def tokens(self, wanted: tuple[Token, ...], new: Callable[[], str]) -> None:
        """Make the Secrets that are missing; one that is there stays as it is, whosever it is."""
        for token in wanted:
            metadata = Metadata(name=token.name, namespace=token.namespace)
            content = {token.key: base64.b64encode(new().encode()).decode()}
            secret = adopted(Secret(metadata=metadata, data=content), self.owner)
            await self._attempt(self._provide(secret))

    async def changes(self, updates: tuple[Update, ...]) -> None:
        """Patches of objects that need not be children, and of the owner itself."""
        own = identity(self.owner)
        await self._each([u for u in updates if identity(u.observed) != own], self._update)
        for update in updates:
            if identity(update.observed) == own:
                await self._attempt(self._patch_owner(update.patch))

    async def end(self, ending: Ending | None) -> None:
        """Delete the owner itself, unless something is left to be done for it."""
        going = self.owner.metadata.deletion_timestamp is not None
        if ending is not None and not self.errors and (ending.grace == 0 or not going):
            await self._attempt(self._end(ending))

    async def status(self, patch: dict[str, Any]) -> bool:
        """Store the status if it differs; whether it was written."""
        return bool(patch) and await self._attempt(self._write_status(patch))

    def status_patch(self, decided: Value | dict[str, Any] | None) -> dict[str, Any]:
        """What makes the stored status the decided one; empty where it is."""
        if decided is None or not self.owner.has_status:
            return {}
        return status_patch(self.owner, decided)

    async def remove_finalizers(self, wanted: tuple[str, ...] | None) -> None:
        have = self.owner.metadata.finalizers
        kept = [f for f in have if wanted is None or f in wanted]
        # Something is left to be done that the finalizer stands for: keep it until that has succeeded.
        if kept == have or self.errors:
            return
        if await self._attempt(self._patch_owner({"metadata": {"finalizers": kept}})):
            self._wrote("removed the finalizer %s", ", ".join(f for f in have if f not in kept))

    async def _provide(self, obj: Resource) -> None:
        try:
            made = await self._client.create(obj)
        except AlreadyExists:
            return
        except ApiError as error:
            if not isinstance(error, PASSING):
                self._tell(Deed("created", obj, refusal=error.message))
            raise
        self._expected.written(self._key, made, self._now)
        self._wrote("created %s %s", obj.kind, obj.name)
        self._tell(Deed("created", made))

    async def _end(self, ending: Ending) -> None:
        try:
            await self._client.delete(
                type(self.owner),
                self._key,
                uid=self.owner.uid,
                grace=ending.grace,
                propagation=ending.propagation,
            )
        except NotFound:
            return
        self._wrote("deleted it")
        self._expected.deleted(self._key, self.owner, self._now)

    async def _delete(self, child: Resource, reason: str) -> None:
        try:
            await self._client.delete(type(child), child.key, uid=child.uid)
        except NotFound:
            pass
        else:
            self._wrote("deleted %s %s%s", child.kind, child.name, f": {reason}" if reason else "")
            self._tell(Deed("deleted", child))
        self._expected.deleted(self._key, child, self._now)

    async def _create(self, child: Resource) -> None:
        try:
            made = await self._client.create(child)
        except AlreadyExists:
            await self._meet(child)
        except ApiError as error:
            if not isinstance(error, PASSING):
                self.refused.append(error.message)
                self._tell(Deed("created", child, refusal=error.message))
            raise
        else:
            self._expected.written(self._key, made, self._now)
            self._wrote("created %s %s", child.kind, child.name)
            self._tell(Deed("created", made))

    async def _meet(self, child: Resource) -> None:
        """A child to be created exists already: ours and unseen so far, a predecessor's, or a stranger's."""
        there = await self._client.find(type(child), child.namespace, child.name)
        if there is None:
            raise Conflict(f"{child.kind} {child.name} came and went")
        if owner_uid(there) == self.owner.uid:
            self._expected.written(self._key, there, self._now)
        elif left_behind(there, self.owner):
            self.look_again(LOOK_FOR_REMOVAL)
        else:
            sentence = (
                f"{child.kind} {child.name} exists and is not ours; it is left alone, delete or rename it"
            )
            self.notes.append(Note("Warning", "NameTaken", sentence))
            self.refused.append(sentence)
            self.look_again(LOOK_FOR_NAME)

    async def _update(self, update: Update) -> None:
        observed = update.observed
        version = {"resourceVersion": observed.metadata.resource_version}
        patch = {**update.patch, "metadata": {**update.patch.get("metadata", {}), **version}}
        try:
            now = await self._client.patch(type(observed), observed.key, patch)
        except NotFound as error:
            self._expected.overtaken(self._key, observed, self._now)
            raise Conflict(f"{observed.kind} {observed.name} has gone") from error
        except Conflict:
            self._expected.overtaken(self._key, observed, self._now)
            raise
        except ApiError as error:
            if not isinstance(error, PASSING):
                self._tell(Deed("updated", observed, update.patch, refusal=error.message))
            raise
        self._expected.written(self._key, now, self._now)
        self._wrote("updated %s %s", observed.kind, observed.name)
        self._tell(Deed("updated", observed, update.patch))

    async def _write_status(self, patch: dict[str, Any]) -> None:
        await self._patch_owner({"status": patch}, subresource="status")
        self._wrote("wrote the status: %s", ", ".join(sorted(patch)))

    async def _patch_owner(self, patch: dict[str, Any], subresource: str = "") -> None:
        version = {"resourceVersion": self.owner.metadata.resource_version}
        body = {**patch, "metadata": {**patch.get("metadata", {}), **version}}
        kind = type(self.owner)
        try:
            self.owner = await self._client.patch(kind, self._key, body, subresource=subresource)
        except NotFound as error:
            # Not a failure: the next look will find no object and rest.
            raise Conflict("the object has gone") from error
        except Conflict:
            self._expected.overtaken(self._key, self.owner, self._now)
            raise
        self._expected.written(self._key, self.owner, self._now)

    async def _each(self, things: Sequence[T], write: Callable[[T], Awaitable[None]]) -> None:
        """Write them all, some at the same time, begun in their order."""
        if len(things) <= 1:
            for thing in things:
                await self._attempt(write(thing))
            return
        left = iter(things)

        async def work() -> None:
            for thing in left:
                await self._attempt(write(thing))

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(AT_ONCE, len(things))):
                tasks.create_task(work())

    async def _attempt(self, write: Awaitable[None]) -> bool:
        try:
            await write
        except PaddleCloudError as error:
            self.errors.append(error)
            return False
        return True

    def _tell(self, deed: Deed) -> None:
        if note := self._tells(deed._replace(owner=self.owner.name)):
            self.notes.append(note)

    def look_again(self, seconds: float) -> None:
        self.again = seconds if self.again is None else min(self.again, seconds)

    def _wrote(self, sentence: str, *words: object) -> None:
        self.made += 1
        self._log.info(sentence, *words)
