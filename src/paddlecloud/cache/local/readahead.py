"""Reading ahead: the next pieces of a large file come while the last ones are summed and written.

One thread a file, and no more than a few pieces in memory; whoever stops taking ends it.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from queue import Full, Queue

DEPTH = 8
LOOK = 0.2


def read_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same pieces in the same order; what *pieces* raises is raised in its place."""
    coming: Queue[bytes | BaseException | None] = Queue(DEPTH)
    left = threading.Event()

    def put(one: bytes | BaseException | None) -> None:
        while not left.is_set():
            try:
                return coming.put(one, timeout=LOOK)
            except Full:
                continue

    def fetch() -> None:
        try:
            for piece in pieces:
                put(piece)
                if left.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    thread = threading.Thread(target=fetch, name="ahead")
    thread.start()
    try:
        while (one := coming.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            yield one
    finally:
        left.set()
        thread.join()
