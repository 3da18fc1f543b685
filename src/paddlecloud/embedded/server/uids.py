"""Identities of objects: random (RFC 9562, version 4), drawn from the machine's entropy a page at a time."""

from __future__ import annotations

import os

PAGE = 4096  # bytes drawn at once: a call into the kernel for every object costs more than all the rest of it


class Uids:
    def __init__(self) -> None:
        self._page, self._used = b"", 0

    def next(self) -> str:
        if self._used >= len(self._page):
            self._page, self._used = os.urandom(PAGE), 0
        number = int.from_bytes(self._page[self._used : self._used + 16])
        self._used += 16
        # The four bits of the version and the two of the variant say how the rest was made.
        number = number & ~(0xF << 76) & ~(0x3 << 62) | 0x4 << 76 | 0x2 << 62
        text = f"{number:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
