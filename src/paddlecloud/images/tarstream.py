"""A tar that is read once, forwards: counted, digested, and with no header that could fill the memory.

`tarfile` stops without a word at a broken header in the middle; `finish` finds out whether it was the end.
"""

from __future__ import annotations

import hashlib
from typing import IO

from .failures import Damaged

BLOCK = 512
LARGEST_READ = 8 << 20
"""Bytes asked for at once: contents come in smaller pieces, so more is a header that lies about its size."""
CHUNK = 1 << 20


class TarStream:
    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._sha256 = hashlib.sha256()
        self._position = 0
        self._last = b""

    @property
    def digest(self) -> str:
        """Of all that was read so far."""
        return f"sha256:{self._sha256.hexdigest()}"

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LARGEST_READ:
            raise Damaged(f"a header of the tar claims {size} bytes for itself")
        pieces, left = [], size
        while left and (piece := self._source.read(left)):
            pieces.append(piece)
            left -= len(piece)
        self._last = b"".join(pieces)
        self._sha256.update(self._last)
        self._position += len(self._last)
        return self._last

    def seek(self, position: int, whence: int = 0) -> int:
        if whence or position < self._position:
            raise Damaged("a header of the tar points backwards")
        while self._position < position and self.read(min(position - self._position, CHUNK)):
            pass
        return self._position

    def finish(self) -> None:
        """Read the padding; raises `Damaged` if the members ended at something else than the end."""
        if len(self._last) % BLOCK or any(self._last):
            raise Damaged(f"the tar breaks off in a broken header before byte {self._position}")
        while self.read(CHUNK):
            # Some tools pad with what was in the buffer; after the mark of the end it means nothing.
            pass
