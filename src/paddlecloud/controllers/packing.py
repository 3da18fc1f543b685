"""The end of a log made small enough for a ConfigMap, and read again; pure."""

from __future__ import annotations

import zlib

KEPT_LINES = 20_000
KEPT_BYTES = 1 << 20
LARGEST = 600 * 1024
"""Bytes of one log, compressed: a third more in base64, and a ConfigMap holds a mebibyte in all."""
GZIP = zlib.MAX_WBITS | 16


def packed(content: bytes, room: int = LARGEST) -> bytes:
    """The last mebibyte of a log, or as much of it as fits *room* when compressed; it begins with a line."""
    content = end_of(content, KEPT_BYTES)
    while len(small := compressed(content)) > room:
        # Nearly in proportion: a shorter text is compressed a little less well.
        content = end_of(content, len(content) * room * 9 // (len(small) * 10))
    return small


def end_of(content: bytes, size: int) -> bytes:
    if len(content) <= size:
        return content
    first, _, rest = content[-size:].partition(b"\n")
    return rest or first


def compressed(content: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, GZIP)
    return packer.compress(content) + packer.flush()


def unpacked(small: bytes) -> bytes:
    """What was packed, never more than a mebibyte; nothing for what was not packed here."""
    try:
        return zlib.decompressobj(GZIP).decompress(small, KEPT_BYTES)
    except zlib.error:
        return b""
