"""The stream of a watch, taken apart without I/O: bytes in, events out, lines of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from ..errors import ServerError, from_status


class WatchEvent(NamedTuple):
    type: str
    """ADDED, MODIFIED, DELETED or BOOKMARK."""
    object: dict[str, Any]

    @property
    def resource_version(self) -> str:
        return str(self.object.get("metadata", {}).get("resourceVersion") or "")


class Lines:
    """Cuts a byte stream into lines; a line may come in any number of pieces."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[bytes]:
        head, *rest = data.split(b"\n")
        self._pieces.append(head)
        for piece in rest:
            line = b"".join(self._pieces)
            self._pieces = [piece]
            if line:
                yield line

    def rest(self) -> bytes:
        """What came after the last newline."""
        return b"".join(self._pieces)


def read_event(line: bytes) -> WatchEvent:
    """The event on a line; an ERROR event is raised as the `ApiError` it carries."""
    try:
        body = orjson.loads(line)
        event = WatchEvent(body["type"], body["object"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ServerError(f"the watch sent a line that is no event: {line[:200]!r}") from error
    if event.type == "ERROR":
        raise from_status(int(event.object.get("code") or 500), event.object)
    return event
