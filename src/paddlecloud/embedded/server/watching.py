"""A watch as bytes on the wire: what each change means to one client, and the stream that carries it.

A selector makes some changes look like others: an object that leaves the selection is deleted for this
client, one that enters it is added. Changes that became visible together are written together; what was
worked out for one watcher is kept for the others. A client that does not read is cut off, never waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson
from aiohttp import web

from ...errors import ApiError, TooManyRequests
from ..store import Change, Changes, Entry, Store, Watch
from .kinds import Kind
from .listing import Query
from .negotiation import Form
from .rows import Printing, printed
from .selectors import outline
from .tables import partial
from .versions import as_read

BOOKMARK_EVERY = 60.0
LAST_MARK = 2.0
LOOK_EVERY = 5.0  # seconds between two looks whether the client is still there
UNREAD = 8 * 1024 * 1024  # bytes a client may leave unread
PIECE = 64 * 1024  # bytes written at once of what is there at the beginning
STALLED = 60.0  # seconds a client may take for what is there at the beginning, a little at a time
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

    def __post_init__(self) -> None:
        # Whoever looks in the same way is sent the same bytes. A text knows its hash, a tuple does not.
        self.look = repr((self.form.value, self.kind.api_version, self.namespace, self.query.selector))

    def meaning(self, change: Change) -> Type | None:
        """The event this client should see; None where the change is not its business."""
        if self.namespace and change.entry.place.namespace != self.namespace:
            return None
        key = self.query.selector
        if key not in change.kept:
            change.kept[key] = self._meaning(change)
        meaning: Type | None = change.kept[key]
        return meaning

    def concerns(self, entry: Entry) -> bool:
        return self.query.selected is None or self.query.selected(outline(entry))

    def _meaning(self, change: Change) -> Type | None:
        selected = self.query.selected
        is_in = not change.deleted and (selected is None or selected(change.body))
        was_in = change.before is not None and (selected is None or selected(change.body_before))
        if is_in:
            return "MODIFIED" if was_in else "ADDED"
        return "DELETED" if was_in else None

    def chunks(self, changes: Changes) -> bytes:
        """All of them as one piece: encrypting and sending cost more than making it."""
        made = changes.kept.get(self.look)
        if made is None:
            made = b"".join([self.chunk(change) for change in changes])
            if self.form is not Form.TABLE:  # each table begins with its columns, once
                changes.kept[self.look] = made
        return made

    def chunk(self, change: Change) -> bytes:
        """The change as it goes out, empty where it is not this client's business."""
        meaning = self.meaning(change)
        if meaning is None:
            return b""
        if self.form is Form.TABLE:
            return chunked(self.frame(meaning, change.entry))
        key = (self.form, meaning, self.kind.api_version)
        if key not in change.kept:
            change.kept[key] = chunked(self.frame(meaning, change.entry))
        made: bytes = change.kept[key]
        return made

    def frame(self, kind: str, entry: Entry) -> bytes:
        return b'{"type":"' + kind.encode() + b'","object":' + self._body(entry) + b"}\n"

    def _body(self, entry: Entry) -> bytes:
        entry = as_read(self.kind, entry)
        if self.form is Form.TABLE:
            printing = Printing(self.query.include, self.now(), columns=not self._columns_sent)
            self._columns_sent = True
            return printed(self.kind, [entry], {"resourceVersion": str(entry.revision)}, printing)
        if self.form is Form.PARTIAL:
            return orjson.dumps(partial(entry.load()))
        return entry.value

    def bookmark(self, revision: int, *, end_of_initial: bool = False) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(revision)}
        if end_of_initial:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        body = {"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": metadata}
        return orjson.dumps({"type": "BOOKMARK", "object": body}) + b"\n"


def chunked(frame: bytes) -> bytes:
    """One chunk of HTTP's chunked encoding, ready for the transport."""
    return b"%x\r\n%b\r\n" % (len(frame), frame)


def pieces(frames: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces worth a write each."""
    waiting, size = list[bytes](), 0
    for frame in frames:
        waiting.append(frame)
        size += len(frame)
        if size >= PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


async def stream(request: web.Request, store: Store, watching: Watching) -> web.StreamResponse:
    """Answer a watch until its time is over or the client is gone."""
    revision = watching.query.revision
    from_now = revision in ("", "0")
    # Listening starts before the list is read, in one step of the loop: nothing falls between.
    watch = store.watch(watching.kind.resource, store.revision if from_now else int(revision))
    initial = store.entries(watching.kind.resource, watching.namespace) if from_now else []
    at = store.revision
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-cache"})
    response.enable_chunked_encoding()
    try:
        await response.prepare(request)
        for piece in pieces(watching.frame("ADDED", e) for e in initial if watching.concerns(e)):
            await send(response, piece)
        if watching.initial_events:
            await send(response, watching.bookmark(at, end_of_initial=True))
        await follow(request, response, store, watch, watching)
        await response.write_eof()
    except ConnectionError:
        pass  # the client has gone: nobody is left to tell
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    finally:
        watch.close()
    return response


async def send(response: web.StreamResponse, frame: bytes) -> None:
    """Write what waits for the client to read; raises `TimeoutError` when it does not."""
    async with asyncio.timeout(STALLED):
        await response.write(frame)


async def follow(
    request: web.Request, response: web.StreamResponse, store: Store, watch: Watch, watching: Watching
) -> None:
    transport = request.transport
    if transport is None:
        return
    cut_off: asyncio.Future[ApiError] = asyncio.get_running_loop().create_future()

    # Called a hundred times for one change, so everything that can be looked up before is.
    look, write, closing = watching.look, transport.write, transport.is_closing
    unread, too_late = transport.get_write_buffer_size, cut_off.done

    def tell(changes: Changes) -> None:
        chunks = changes.kept.get(look)
        if chunks is None:
            chunks = watching.chunks(changes)
        if not chunks or too_late() or closing():
            return
        write(chunks)
        if unread() > UNREAD:
            cut_off.set_result(TooManyRequests("the watch fell too far behind"))

    watch.listen(tell)
    ended = asyncio.ensure_future(watch.ended.wait())
    ends: list[asyncio.Future[Any]] = [cut_off, ended]
    end = time.monotonic() + watching.seconds
    mark = next_mark(time.monotonic(), end)
    try:
        while (left := end - time.monotonic()) > 0:
            pause = min(left, LOOK_EVERY, max(0.0, mark - time.monotonic()) if watching.bookmarks else left)
            await asyncio.wait(ends, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            if cut_off.done():
                transport.abort()
                return
            if ended.done() or transport.is_closing():
                return
            if watching.bookmarks and time.monotonic() >= mark:
                await send(response, watching.bookmark(store.revision))
                mark = next_mark(time.monotonic(), end)
    finally:
        ended.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ended


def next_mark(now: float, end: float) -> float:
    """Once a minute, and shortly before the end: whoever comes back then knows where to go on."""
    last = end - LAST_MARK
    return min(now + BOOKMARK_EVERY, last) if last > now else float("inf")
