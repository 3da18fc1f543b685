"""The records that VisualDL writes: from the bytes of a file to the numbers in it; pure.

A file is a row of records, each with its length in front (eight bytes, the lowest first); a record is a
protobuf message of values, of which the numbers are read and everything else (pictures, texts, curves) is
passed over. Whoever writes may be in the middle of a record: what is not whole yet is not read, and damage is
passed over, never raised.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

HEADER = 8
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
VALUES = 1
STEP, TAG, TIME, NUMBER, NUMBER_OF_GROUP = 1, 2, 3, 4, 14
LONGEST_TAG = 200


class Scalar(NamedTuple):
    """A number that a training wrote down."""

    tag: str
    step: int
    value: float
    time: int
    """Milliseconds since the epoch."""


def whole_records(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each record begins and ends that is whole in *data*; the next header follows the last end."""
    begin = HEADER
    while begin <= len(data):
        end = begin + length_of(data, begin - HEADER)
        if end > len(data):
            return
        yield begin, end
        begin = end + HEADER


def length_of(data: bytes, header: int = 0) -> int:
    """How long the record is whose header begins there."""
    return int.from_bytes(data[header : header + HEADER], "little")


def newest(data: bytes, records: Sequence[tuple[int, int]]) -> dict[str, Scalar]:
    """The last number under each tag in the *records* of *data*; of those before it nothing else is read."""
    found: dict[str, Scalar] = {}
    known: list[bytes] = []
    for begin, end in reversed(records):
        record = data[begin:end]
        if any(field in record for field in known):
            continue
        for one in scalars(record):
            if found.setdefault(one.tag, one) is one and (field := as_written(one.tag)) in record:
                known.append(field)
    return found


def as_written(tag: str) -> bytes:
    """The field of a tag and the beginning of the next, as VisualDL writes them."""
    content = tag.encode()
    return bytes((TAG << 3 | BYTES, len(content) & 0x7F)) + content + bytes((TIME << 3 | VARINT,))


def scalars(record: bytes) -> list[Scalar]:
    """The numbers of one record; none where it is damaged."""
    try:
        found = [scalar(value) for number, value in fields(record) if number == VALUES]
    except (ValueError, struct.error):
        return []
    return [one for one in found if one is not None]


def scalar(message: int | bytes) -> Scalar | None:
    step, tag, time, value = 0, "", 0, None
    for number, content in fields(as_bytes(message)):
        if number == STEP:
            step = signed(content)
        elif number == TAG:
            tag = text(content)
        elif number == TIME:
            time = signed(content)
        elif number == NUMBER:
            value = fraction(content)
        elif number == NUMBER_OF_GROUP:
            # One of several under the same tag: VisualDL shows them as tag and name.
            inner = dict(fields(as_bytes(content)))
            tag, value = f"{tag}/{text(inner.get(1, b''))}", fraction(inner.get(2, bytes(4)))
    return Scalar(tag, step, value, time) if value is not None and len(tag) <= LONGEST_TAG else None


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message, in their order; raises `ValueError` where it is none."""
    place = 0
    while place < len(message):
        key, place = varint(message, place)
        kind, content = key & 7, place
        if kind == VARINT:
            number, place = varint(message, place)
            yield key >> 3, number
            continue
        if kind == BYTES:
            size, content = varint(message, place)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        place = content + size
        if place > len(message):
            raise ValueError("a field that is cut off")
        yield key >> 3, message[content:place]


def varint(message: bytes, place: int) -> tuple[int, int]:
    """A number of one to ten bytes, and where the next thing begins."""
    result = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            raise ValueError("a number that is cut off")
        byte = message[place]
        place += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, place
    raise ValueError("a number without an end")


def as_bytes(content: int | bytes) -> bytes:
    if isinstance(content, int):
        raise ValueError("a number where bytes belong")
    return content


def text(content: int | bytes) -> str:
    return as_bytes(content).decode(errors="replace")


def fraction(content: int | bytes) -> float:
    found: tuple[float] = struct.unpack("<f", as_bytes(content))
    return found[0]


def signed(content: int | bytes) -> int:
    if not isinstance(content, int):
        raise ValueError("bytes where a number belongs")
    content &= (1 << 64) - 1
    return content - (1 << 64) if content >> 63 else content
