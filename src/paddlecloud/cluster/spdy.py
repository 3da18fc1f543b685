"""SPDY/3.1 as far as Kubernetes uses it to forward ports: many streams over one connection.

Pure: bytes in, frames out, and back. There is no flow control in what Kubernetes speaks. The headers of one
direction are compressed together, so that frames must be read and written in order.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

VERSION = 3
HEAD = struct.Struct("!II")
FIN = 0x01
LONGEST_FRAME = 0xFFFFFF
CONTROL = 0x80000000
REFUSED, CANCELLED = 3, 5
"""Reasons of a reset."""


class Kind(IntEnum):
    DATA = 0
    SYN_STREAM = 1
    SYN_REPLY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PING = 6
    GOAWAY = 7
    HEADERS = 8
    WINDOW_UPDATE = 9


class Broken(ValueError):
    """What came is not SPDY; the connection is of no more use."""


@dataclass(frozen=True)
class Frame:
    kind: int
    stream: int = 0
    fin: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""


class Reader:
    """Frames out of bytes that come in pieces of any size."""

    def __init__(self) -> None:
        self._heard = bytearray()
        self._unpacking = zlib.decompressobj(zdict=DICTIONARY)

    def frames(self, data: bytes) -> Iterator[Frame]:
        """What is complete with *data*; raises `Broken`."""
        self._heard += data
        while len(self._heard) >= HEAD.size:
            first, second = HEAD.unpack_from(self._heard)
            end = HEAD.size + (second & LONGEST_FRAME)
            if len(self._heard) < end:
                return
            body = bytes(self._heard[HEAD.size : end])
            del self._heard[:end]
            try:
                yield self._frame(first, second >> 24, body)
            except (struct.error, zlib.error, UnicodeDecodeError) as error:
                raise Broken(f"not a SPDY frame: {error}") from error

    def _frame(self, first: int, flags: int, body: bytes) -> Frame:
        fin = bool(flags & FIN)
        if not first & CONTROL:
            return Frame(Kind.DATA, first, fin, data=body)
        if (first >> 16) & 0x7FFF != VERSION:
            raise Broken("not SPDY/3.1")
        kind = first & 0xFFFF
        if kind == Kind.SYN_STREAM:
            return Frame(kind, number(body, 0), fin, self._headers(body[10:]))
        if kind in (Kind.SYN_REPLY, Kind.HEADERS):
            return Frame(kind, number(body, 0), fin, self._headers(body[4:]))
        if kind in (Kind.RST_STREAM, Kind.WINDOW_UPDATE):
            return Frame(kind, number(body, 0), data=body[4:])
        # What a ping or a farewell says is its body.
        return Frame(kind, data=body)

    def _headers(self, packed: bytes) -> dict[str, str]:
        text = self._unpacking.decompress(packed, LONGEST_FRAME)
        (count,) = struct.unpack_from("!I", text)
        found, position = {}, 4
        for _ in range(count):
            parts = []
            for _ in range(2):
                (size,) = struct.unpack_from("!I", text, position)
                parts.append(text[position + 4 : position + 4 + size].decode())
                position += 4 + size
            found[parts[0].lower()] = parts[1]
        return found


class Writer:
    """Frames into bytes, to be sent in the order in which they were made."""

    def __init__(self) -> None:
        self._packing = zlib.compressobj(zdict=DICTIONARY)

    def data(self, stream: int, data: bytes, fin: bool = False) -> bytes:
        return HEAD.pack(stream, (FIN if fin else 0) << 24 | len(data)) + data

    def open(self, stream: int, headers: Mapping[str, str], fin: bool = False) -> bytes:
        body = struct.pack("!IIH", stream, 0, 0) + self._packed(headers)
        return control(Kind.SYN_STREAM, body, FIN if fin else 0)

    def reply(self, stream: int) -> bytes:
        return control(Kind.SYN_REPLY, struct.pack("!I", stream) + self._packed({}))

    def reset(self, stream: int, why: int) -> bytes:
        return control(Kind.RST_STREAM, struct.pack("!II", stream, why))

    def pong(self, data: bytes) -> bytes:
        return control(Kind.PING, data)

    def _packed(self, headers: Mapping[str, str]) -> bytes:
        text = struct.pack("!I", len(headers))
        for name, value in headers.items():
            for part in (name.encode(), value.encode()):
                text += struct.pack("!I", len(part)) + part
        return self._packing.compress(text) + self._packing.flush(zlib.Z_SYNC_FLUSH)


def control(kind: int, body: bytes, flags: int = 0) -> bytes:
    return HEAD.pack(CONTROL | VERSION << 16 | kind, flags << 24 | len(body)) + body


def number(body: bytes, position: int) -> int:
    found: int = struct.unpack_from("!I", body, position)[0]
    return found & ~CONTROL


def dictionary() -> bytes:
    """The text both sides begin with, as the specification gives it: words of HTTP."""
    return b"".join(struct.pack("!I", len(word)) + word.encode() for word in SIZED) + LOOSE


WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges "
    "age allow authorization cache-control connection content-base content-encoding content-language "
    "content-length content-location content-md5 content-range content-type date etag expect expires from "
    "host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location "
    "max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer "
    "transfer-encoding upgrade user-agent vary via warning www-authenticate method get status"
)
SIZED = (
    *WORDS.split(), "200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin",
)  # fmt: skip
LOOSE = (
    b"100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    b"203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    b"403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    b"Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    b"chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    b"text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY = dictionary()
