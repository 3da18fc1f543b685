"""Keeps the ResourceQuotas of a namespace: admits what fits, and counts again when something goes.

What is admitted is first written into the quota's status and only then stored, so that two clients cannot
both take the last place. Who is admitted and who counts take turns in a namespace: a count amid the two
writes would miss what is on its way. A crash between them leaves the count too high until the next count.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from ... import log
from ...errors import ApiError, Conflict, Forbidden
from ..store import Entry, Place, Store
from . import quota, refusals
from .kinds import Kind
from .quantities import NOTHING
from .quotascopes import covers

Body = dict[str, Any]
QUOTAS = "/resourcequotas"
LOG = log.logger("api")


class Quotas:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, namespace: str) -> list[Entry]:
        if not namespace or not self._store.objects.get(QUOTAS):
            return []
        return self._store.entries(QUOTAS, namespace)

    @asynccontextmanager
    async def admitted(
        self, kind: Kind, namespace: str, body: Body, old: Body | None = None, *, dry_run: bool = False
    ) -> AsyncIterator[None]:
        """Inside, *body* is counted and is to be stored. Raises `Forbidden` when it does not fit."""
        if not self.of(namespace):
            yield
            return
        async with self._turn(namespace):
            await self._admit(kind, namespace, body, old, dry_run=dry_run)
            try:
                yield
            except BaseException:
                # It was counted and is not there.
                self.recount(namespace)
                raise

    def _turn(self, namespace: str) -> asyncio.Lock:
        return self._turns.setdefault(namespace, asyncio.Lock())

    async def _admit(
        self, kind: Kind, namespace: str, body: Body, old: Body | None, *, dry_run: bool
    ) -> None:
        entries = self.of(namespace)
        asked = quota.uses(kind.resource, body)
        if old is not None:
            asked = quota.more_than(asked, quota.uses(kind.resource, old))
        name = str(body["metadata"].get("name") or "")
        # What a pod does not say counts for nothing, and is asked for all the same.
        concerned = asked.keys() | (quota.TOLD.keys() if kind.resource == "/pods" else ())
        counted = [(e, self._counted(e)) for e in entries]
        limiting = [
            (e, b)
            for e, b in counted
            if concerned & quota.limits_of(b).keys() and covers(b, kind.resource, body)
        ]
        for _, body_of_quota in limiting:
            problem = ""
            if kind.resource == "/pods" and old is None:
                problem = quota.untold(body_of_quota, body)
            if problem := problem or quota.exceeded(body_of_quota, asked):
                raise Forbidden(
                    f'{kind.full_name} "{name}" is forbidden: {problem}',
                    details=refusals.not_found(kind, name).details,
                )
        if dry_run or all(amount.value <= 0 for amount in asked.values()):
            return
        for entry, body_of_quota in limiting:
            used = quota.used_by(body_of_quota)
            total = {n: used.get(n, NOTHING) + asked.get(n, NOTHING) for n in used}
            made = {**body_of_quota, "status": quota.status_of(body_of_quota, total)}
            try:
                await self._store.put(entry.place, made, entry.revision)
            except Conflict:
                await self._store.settled(entry.place)
                # Somebody changed the quota meanwhile: what was counted in others is counted anew.
                self.recount(namespace)
                return await self._admit(kind, namespace, body, old, dry_run=dry_run)

    def _counted(self, entry: Entry) -> Body:
        """The quota with a count that fits its limits: a new one has none yet."""
        body = entry.load()
        known = (body.get("status") or {}).get("hard") == (body.get("spec") or {}).get("hard")
        return body if known else self.count(body)

    def count(self, body: Body) -> Body:
        """A quota with the status that is true now."""
        namespace, hard = body["metadata"].get("namespace") or "", quota.limits_of(body)
        used = quota.total(self._usages(body, namespace, hard), hard)
        return {**body, "status": quota.status_of(body, used)}

    def _usages(self, body: Body, namespace: str, hard: quota.Usage) -> Iterator[quota.Usage]:
        for resource in list(self._store.objects):
            group, _, plural = resource.rpartition("/")
            counted = f"count/{plural}.{group}" if group else f"count/{plural}"
            if counted in hard or resource in quota.COUNTED:
                for entry in self._store.entries(resource, namespace):
                    counted_body = entry.load()
                    if covers(body, resource, counted_body):
                        yield quota.uses(resource, counted_body)

    def recount(self, namespace: str) -> None:
        """Count again soon, once for however many changes there are meanwhile."""
        if not self.of(namespace):
            return
        self._due.add(namespace)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._due:
            namespace = self._due.pop()
            async with self._turn(namespace):
                for entry in self.of(namespace):
                    await self._write(entry.place)

    async def _write(self, place: Place) -> None:
        while (entry := self._store.get(place)) is not None:
            body = entry.load()
            counted = self.count(body)
            if counted["status"] == body.get("status"):
                return
            try:
                await self._store.put(place, counted, entry.revision)
                return
            except Conflict:
                await self._store.settled(place)
            except ApiError as error:
                LOG.warning("the quota %s could not be counted: %s", place.name, error.message)
                return
