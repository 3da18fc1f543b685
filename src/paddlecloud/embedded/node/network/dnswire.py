"""DNS messages as bytes: one question in, an answer out; pure.

Only what resolvers of programs use: one question a message, EDNS for its size, answers that do not fit are
cut off and say so. Whatever cannot be read is `Malformed`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

A, CNAME, SOA, PTR, TXT, AAAA, SRV, OPT, ANY = 1, 5, 6, 12, 16, 28, 33, 41, 255
INTERNET = 1
NO_ERROR, FORMAT_ERROR, SERVER_FAILURE, NO_SUCH_NAME, NOT_IMPLEMENTED = 0, 1, 2, 3, 4
PLAIN_SIZE, MOST = 512, 1232
"""Without EDNS, and the most that crosses every network in one piece."""
QUESTION_AT = 12
HEADER = struct.Struct(">HHHHHH")


class Malformed(ValueError):
    """Bytes that are no question."""


@dataclass(frozen=True)
class Question:
    id: int
    name: str
    """In lower case, without the dot at the end."""
    kind: int
    raw: bytes
    """The question as it was asked; an answer repeats it to the letter."""
    recursion: bool = True
    size: int = PLAIN_SIZE
    """The largest datagram the client takes."""
    extended: bool = False


class Record(NamedTuple):
    name: str
    kind: int
    data: bytes
    ttl: int = 5


def parse(message: bytes) -> Question:
    try:
        number, flags, questions, answers, _, additional = HEADER.unpack_from(message)
        if flags & 0x8000 or questions != 1 or answers:
            raise Malformed("not a question")
        name, at = read_name(message, QUESTION_AT)
        kind, _ = struct.unpack_from(">HH", message, at)
        raw = message[QUESTION_AT : at + 4]
        size, extended = edns(message, at + 4, additional)
        return Question(number, name.lower(), kind, raw, bool(flags & 0x0100), size, extended)
    except (struct.error, IndexError) as error:
        raise Malformed(str(error)) from error


def edns(message: bytes, at: int, additional: int) -> tuple[int, bool]:
    """The size a client takes, if it says so in the first additional record."""
    if not additional or at >= len(message) or message[at] != 0:
        return PLAIN_SIZE, False
    kind, size = struct.unpack_from(">HH", message, at + 1)
    return (min(max(size, PLAIN_SIZE), MOST), True) if kind == OPT else (PLAIN_SIZE, False)


def read_name(message: bytes, at: int) -> tuple[str, int]:
    labels: list[str] = []
    while length := message[at]:
        if length > 63:
            raise Malformed("a compressed name in a question")
        label = message[at + 1 : at + 1 + length]
        if len(label) < length:
            raise Malformed("a name that is cut off")
        labels.append(label.decode("latin-1"))
        at += 1 + length
    return ".".join(labels), at + 1


def response(question: Question, code: int, records: tuple[Record, ...] = (), limit: int = 0) -> bytes:
    """The answer as bytes, at most *limit* of them if there is one: what does not fit is left out."""
    # An answer with authority over its zone; recursion is to be had.
    flags = 0x8480 | (0x0100 if question.recursion else 0) | code
    tail = b"\0" + struct.pack(">HHIH", OPT, MOST, 0, 0) if question.extended else b""
    body, count = b"", 0
    for record in records:
        piece = wire(record, question)
        if limit and QUESTION_AT + len(question.raw) + len(body) + len(piece) + len(tail) > limit:
            flags |= 0x0200
            break
        body, count = body + piece, count + 1
    head = HEADER.pack(question.id, flags, 1, count, 0, 1 if tail else 0)
    return head + question.raw + body + tail


def failure(message: bytes, code: int) -> bytes:
    """The answer to a message that cannot be read; empty when not even its number can."""
    return message[:2] + struct.pack(">HHHHH", 0x8080 | code, 0, 0, 0, 0) if len(message) >= 12 else b""


def wire(record: Record, question: Question) -> bytes:
    owner = struct.pack(">H", 0xC000 | QUESTION_AT) if record.name == question.name else encode(record.name)
    return owner + struct.pack(">HHIH", record.kind, INTERNET, record.ttl, len(record.data)) + record.data


def encode(name: str) -> bytes:
    labels = [label.encode("latin-1") for label in name.split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def service_record(port: int, target: str) -> bytes:
    return struct.pack(">HHH", 0, 100, port) + encode(target)
