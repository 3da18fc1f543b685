"""Pictures drawn pixel by pixel, as PNG, without a library."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable

Colour = tuple[int, int, int]


def picture(colour: Callable[[int, int], Colour], side: int = 12) -> str:
    """A PNG of these pixels, in base64."""
    return base64.b64encode(png(colour, side)).decode()


def png(colour: Callable[[int, int], Colour], side: int = 12) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(n for x in range(side) for n in colour(x, y)) for y in range(side))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
