"""One watcher's share of the changes: told in the order of revisions, each once, to a listener or a reader.

A reader that falls too far behind is cut off, never waited for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from ...errors import TooManyRequests
from .entries import Change, Changes

BACKLOG = 8192  # changes a watcher may be behind before it is cut off


@dataclass(eq=False)
class Watch:
    """The changes of one resource, as an async iterator."""

    resource: str
    seen: int
    """The newest revision told, or the one it began after."""
    forget: Callable[[Watch], None]
    """Called when it closes, so that nobody tells it any more."""
    _changes: deque[Change] = field(default_factory=deque)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _closed: bool = False
    _behind: bool = False
    listener: Callable[[Changes], None] | None = None
    """Who is called with all changes that came together."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self, listener: Callable[[Changes], None]) -> None:
        """From now on call *listener* with all changes that came together, beginning with those that wait."""
        self.listener = listener
        if self._changes:
            listener(Changes(self._changes))
            self._changes.clear()

    def tell(self, changes: Changes) -> None:
        # A watch that began between a change and its telling has found it in the past already.
        if changes and changes[0].revision <= self.seen:
            changes = Changes(change for change in changes if change.revision > self.seen)
        if not changes:
            return
        self.seen = changes[-1].revision
        if self.listener is not None:
            self.listener(changes)
            return
        room = BACKLOG - len(self._changes)
        self._changes += changes[:room]
        self._arrived.set()
        if len(changes) > room:
            self._behind = True
            self.close()

    def close(self) -> None:
        self._closed = True
        self.ended.set()
        self._arrived.set()
        self.forget(self)

    async def next(self, timeout: float) -> Change | None:
        """The next change, or None when *timeout* seconds pass without one.

        Raises `TooManyRequests` when this reader fell behind, `StopAsyncIteration` once closed.
        """
        while not self._changes:
            if self._behind:
                raise TooManyRequests("the watch fell too far behind")
            if self._closed:
                raise StopAsyncIteration
            self._arrived.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._arrived.wait()
            except TimeoutError:
                return None
        return self._changes.popleft()

    async def __aiter__(self) -> AsyncIterator[Change]:
        while True:
            try:
                change = await self.next(3600)
            except StopAsyncIteration:
                return
            if change is not None:
                yield change
