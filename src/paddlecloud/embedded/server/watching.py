"""A watch as bytes on the wire: what each change means to one client, and the stream that carries it.

A selector makes some changes look like others: an object that leaves the selection is deleted for this
client, one that enters it is added.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson
from aiohttp import web

from ...errors import ApiError
from ..store import Change, Entry, Store, Watch
from .kinds import Kind
from .listing import Query, table_body
from .negotiation import Form
from .tables import partial, table

BOOKMARK_EVERY = 60.0
Type = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass
class Watching:
    kind: Kind
    namespace: str
    query: Query
    form: Form
    bookmarks: bool
    initial_events: bool
    """Send what is there first, and mark its end with a bookmark."""
    seconds: float
    now: Callable[[], datetime]
    _columns_sent: bool = False

    def meaning(self, change: Change) -> tuple[Type, Entry] | None:
        """The event this client should see; None where the change is not its business."""
        if self.namespace and change.entry.place.namespace != self.namespace:
            return None
        selected = self.query.selected
        is_in = not change.deleted and (selected is None or selected(change.entry.load()))
        was_in = change.before is not None and (selected is None or selected(orjson.loads(change.before)))
        if is_in:
            return ("MODIFIED" if was_in else "ADDED"), change.entry
        return ("DELETED", change.entry) if was_in else None

    def frame(self, kind: str, entry: Entry) -> bytes:
        return b'{"type":"' + kind.encode() + b'","object":' + self._body(entry) + b"}\n"

    def _body(self, entry: Entry) -> bytes:
        if self.form is Form.TABLE:
            columns, rows = table(self.kind, [entry.load()], self.now(), include=self.query.include)
            given = None if self._columns_sent else columns
            self._columns_sent = True
            return orjson.dumps(table_body(given, rows, {"resourceVersion": str(entry.revision)}))
        if self.form is Form.PARTIAL:
            return orjson.dumps(partial(entry.load()))
        return entry.value

    def bookmark(self, revision: int, *, end_of_initial: bool = False) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(revision)}
        if end_of_initial:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        body = {"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": metadata}
        return orjson.dumps({"type": "BOOKMARK", "object": body}) + b"\n"


async def stream(request: web.Request, store: Store, watching: Watching) -> web.StreamResponse:
    """Answer a watch until its time is over or the client is gone."""
    revision = watching.query.revision
    from_now = revision in ("", "0")
    # Listening starts before the list is read, in one step of the loop: nothing falls between.
    watch = store.watch(watching.kind.resource, store.revision if from_now else int(revision))
    initial = store.entries(watching.kind.resource, watching.namespace) if from_now else []
    at = store.revision
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-cache"})
    try:
        await response.prepare(request)
        for entry in initial:
            if watching.query.selected is None or watching.query.selected(entry.load()):
                await response.write(watching.frame("ADDED", entry))
        if watching.initial_events:
            await response.write(watching.bookmark(at, end_of_initial=True))
        await follow(response, store, watch, watching)
        await response.write_eof()
    except ConnectionError:
        pass  # the client has gone: nobody is left to tell
    finally:
        watch.close()
    return response


async def follow(response: web.StreamResponse, store: Store, watch: Watch, watching: Watching) -> None:
    end = time.monotonic() + watching.seconds
    next_bookmark = time.monotonic() + BOOKMARK_EVERY
    while (left := end - time.monotonic()) > 0:
        wait = min(left, next_bookmark - time.monotonic()) if watching.bookmarks else left
        try:
            change = await watch.next(max(0.0, wait))
        except StopAsyncIteration:
            return
        except ApiError as error:
            await response.write(orjson.dumps({"type": "ERROR", "object": error.as_status()}) + b"\n")
            return
        if change is None:
            if watching.bookmarks:
                await response.write(watching.bookmark(store.revision))
            next_bookmark = time.monotonic() + BOOKMARK_EVERY
        elif seen := watching.meaning(change):
            await response.write(watching.frame(*seen))
